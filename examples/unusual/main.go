// Command unusual finds the rows of a table that its groups explain least: fit a mixture, then sort rows by their log
// density. With the command: latent fit @wine -k 3 --scale standard -o wine.json && latent score wine.json @wine.
//
//	go run ./examples/unusual
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

func main() {
	if err := run(os.Stdout, "@wine", 3); err != nil {
		log.Fatal(err)
	}
}

// row is a row of the table with what is unusual about it.
type row struct {
	number int64
	score  float64 // log density, nats
	column string  // the column farthest from the mean of the row's group
	off    float64 // by how many of the group's standard deviations
}

func run(w io.Writer, path string, k int) error {
	ctx := context.Background()
	src, info, err := data.Load(ctx, path, data.Options{})
	if err != nil {
		return err
	}
	// A diagonal covariance has few parameters: with full ones the model would bend to the very rows that are looked for.
	r, err := latent.Fit(ctx, src, latent.Spec{K: k, Covariance: "diag", Columns: info.Features})
	if err != nil {
		return err
	}
	var rows []row
	err = r.Model.Rows(ctx, src, 0, func(s *model.Scored) error {
		for i, score := range s.LogDensity {
			u, d := row{number: s.Number(i), score: score}, s.D
			for j, v := range s.F64[i*d : i*d+d] {
				c := r.Components[s.Label[i]]
				if off := (v - c.Mean[j]) / math.Sqrt(c.Covariance.At(j, j)); math.Abs(off) > math.Abs(u.off) {
					u.column, u.off = r.Columns[j], off
				}
			}
			rows = append(rows, u)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.score, b.score) })
	middle := rows[len(rows)/2].score
	fmt.Fprintf(w, "%d rows; the middle one has a log density of %.1f nats\n", len(rows), middle)
	for _, u := range rows[:5] {
		fmt.Fprintf(w, "row %d: %.1f nats, %s is %+.1f standard deviations from its group\n", u.number, u.score, u.column, u.off)
	}
	return nil
}
