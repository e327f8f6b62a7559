package latent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/seed"
	"github.com/latent-go/latent/sweep"
)

// scale puts the transform the spec asks for before the rows.
func (f *fit) scale(ctx context.Context) error {
	var t Transform
	switch {
	case f.spec.Binarize != nil:
		f.transform = []Transform{{Kind: "binarize", Threshold: f.spec.Binarize}}
		return f.transformed(ctx)
	case !f.spec.scaled():
		return nil
	case f.spec.Scale == "standard":
		t = Transform{Kind: "standard", Center: f.look.Mean}
		for _, v := range f.look.Var {
			t.Scale = append(t.Scale, math.Sqrt(v))
		}
	default:
		p, err := seed.Sample(ctx, f.src, f.look.Used, make([]float64, len(f.names)), seed.SampleRows, seed.SampleRNG(f.spec.seed()))
		if err != nil {
			return err
		}
		t = robust(p)
	}
	for j, s := range t.Scale {
		if !(s > 0) {
			return fmt.Errorf("column %q cannot be scaled: its %s is 0; use --exclude %s or --scale none", f.names[j],
				map[string]string{"standard": "standard deviation", "robust": "interquartile range"}[t.Kind], f.names[j])
		}
	}
	f.transform = []Transform{t}
	return f.transformed(ctx)
}

// transformed puts the transform before the rows and looks at them again.
func (f *fit) transformed(ctx context.Context) (err error) {
	f.src = f.transform[0].rows(f.user)
	f.look, err = sweep.Look(ctx, f.src, f.spec.threads())
	return err
}

// robust returns median and interquartile range of each column, weights counting as rows.
func robust(p *seed.Points) Transform {
	t := Transform{Kind: "robust"}
	order := make([]int, p.N)
	for j := range p.D {
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			switch x, y := p.At(a)[j], p.At(b)[j]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		q := func(share float64) float64 { return quantile(p, order, j, share) }
		t.Center = append(t.Center, q(0.5))
		t.Scale = append(t.Scale, q(0.75)-q(0.25))
	}
	return t
}

// quantile returns the weighted quantile of column j: the midpoint where the share falls between two rows.
func quantile(p *seed.Points, order []int, j int, share float64) float64 {
	total := 0.0
	for _, w := range p.W {
		total += w
	}
	sum := 0.0
	for i, at := range order {
		sum += p.W[at]
		switch {
		case sum > share*total:
			return p.At(at)[j]
		case sum == share*total && i+1 < len(order):
			return (p.At(at)[j] + p.At(order[i+1])[j]) / 2
		}
	}
	return p.At(order[len(order)-1])[j]
}
