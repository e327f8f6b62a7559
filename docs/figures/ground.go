package main

import (
	"context"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// ground is a mixture over rows in memory. Its two verbs are the two halves of every method: an E-step at any inverse
// temperature, and the M-step of what it gathered.
type ground struct {
	mix  *mixture.Mixture
	rows *sweep.Local
}

// over puts m over rows of m.D numbers.
func over(m *mixture.Mixture, rows [][]float64) ground {
	table := must(data.FromRows(rows))
	return ground{m, sweep.NewLocal(table, int64(table.N), make([]float64, m.D), 1)}
}

// eStep returns the sums of the rows with the responsibilities that theta gives at beta; +Inf means hard labels.
func (g ground) eStep(theta []float64, beta float64) *family.Stats {
	return must(g.rows.Sweep(context.Background(), []sweep.Task{{Mixture: g.mix, Theta: theta, Beta: beta}}))[0]
}

// mStep returns the parameters that maximise the free energy for the responsibilities behind s, which theta gave.
func (g ground) mStep(theta []float64, s *family.Stats) []float64 {
	next := slices.Clone(theta)
	g.mix.MStep(next, theta, s)
	return next
}

// drawn returns n rows drawn from m and the component of each, from 0.
func drawn(m *model.Model, n int, seed uint64) (rows [][]float64, from []int) {
	s := must(m.Sampler(seed))
	for range n {
		x := make([]float64, m.D())
		from = append(from, s.Draw(x))
		rows = append(rows, x)
	}
	return rows, from
}

// must returns v. Rows and models are this program's own, so an error is a mistake in it.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
