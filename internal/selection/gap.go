package selection

import (
	"context"
	"errors"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Constants of the gap statistic.
const (
	gapReferences = 20   // sets of reference rows
	gapStarts     = 1    // starts of k-means on each
	gapRows       = 4000 // rows of each at most
	gapColumns    = 1000 // columns up to which principal axes are found
)

// references makes sets of rows without groups, with which the inertia of k-means is compared: uniform over the smallest box along the
// principal axes of the data that holds all rows (Tibshirani, Walther and Hastie 2001, section 4, choice b). Distances do not depend on the
// axes, so the sets have the axes of the box.
type references struct {
	lo, hi []float64 // the box
	rows   int       // of each set
	plan   plan.Plan // of k-means on a set
}

// newReferences returns what the candidates of f's rows are compared with. It makes two passes of n d² operations. The box is that of all
// rows, and so is the inertia of candidates: a sample would lose small groups, which are often the outermost. Only the sets have fewer rows
// than large data: a mean squared distance hardly depends on how many rows it is the mean of.
func newReferences(ctx context.Context, f *search.Fit) (*references, error) {
	d := len(f.Survey.Mean)
	if d > gapColumns {
		return nil, plan.Wrong("Criterion", "gap finds the principal axes of at most %d columns, but there %s %d; use --pca, or --criterion elbow", gapColumns, text.Form(d, "is", "are"), d)
	}
	r := &references{plan: f.Plan.PlainKMeans(1, 1)}
	r.rows = int(min(max(float64(f.Survey.Used), math.Round(f.Survey.W)), gapRows)) // weights count rows
	if f.Plan.Driver(d) != plan.Exact {
		r.plan.NInit = gapStarts
	}
	var err error
	r.lo, r.hi, err = pca.Box(ctx, f.Source, f.Survey, f.Plan.Threads)
	return r, err
}

// set returns set b of reference rows.
func (r *references) set(b int) *data.Table {
	t := &data.Table{N: r.rows, D: len(r.lo), F64: make([]float64, r.rows*len(r.lo))}
	rng := rng.Reference.At(r.plan.Seed, b)
	for i := range t.F64 {
		j := i % t.D
		t.F64[i] = r.lo[j] + rng.Float64()*(r.hi[j]-r.lo[j])
	}
	return t
}

// judge sets the gap of a candidate and its standard error: the mean of log W over the sets less that of the rows, W the
// mean squared distance of a row from its centre, and the standard deviation over the sets times sqrt(1 + 1/B).
func (r *references) judge(ctx context.Context, x *contender, f *search.Fit) error {
	inertia, weight := math.Ldexp(*x.Inertia, f.Units.WeightPower-f.CostPower()), f.Survey.W // in the units of the reference rows
	if inertia == 0 {
		return errors.New("the inertia is 0, whose logarithm no gap can be taken of")
	}
	p := r.plan
	p.K = x.K
	var logs [gapReferences]float64
	mean := 0.0
	for b := range logs {
		v, w, err := search.InertiaOf(ctx, r.set(b), p)
		if err != nil {
			return err
		}
		logs[b] = math.Log(v / w)
		mean += logs[b] / gapReferences
	}
	square := 0.0
	for _, v := range logs {
		square += (v - mean) * (v - mean) / gapReferences
	}
	x.Gap, x.GapSE = new(mean-math.Log(inertia/weight)), new(math.Sqrt(square*(1+1.0/gapReferences)))
	return nil
}

// byGap returns the index of the candidate that the gap statistic chooses of those that could be fitted, the fewest groups
// first: the smallest k whose gap is at least that of k + 1 less its standard error; the largest k where there is none.
func byGap(all []*model.Candidate) int {
	for i, x := range all[:len(all)-1] {
		if next := all[i+1]; next.K == x.K+1 && *x.Gap >= *next.Gap-*next.GapSE {
			return i
		}
	}
	return len(all) - 1
}
