package prepare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
)

// look makes a first pass over Source.
func (f *Rows) look(ctx context.Context) (*sweep.Survey, error) {
	if f.Plan.Gaps && (f.Survey == nil || f.Survey.Gaps != nil) { // what complete rows become in other units is a number
		return sweep.LookThrough(ctx, f.Source, f.Plan.Threads)
	}
	return sweep.Look(ctx, f.Source, f.Plan.Threads)
}

// checkGaps refuses a column without any cell, and what needs whole rows where cells are missing.
func (f *Rows) checkGaps(context.Context) error {
	look, p := f.Survey, &f.Plan
	if look.Gaps == nil {
		return nil
	}
	if look.Used == 0 && look.Empty > 0 {
		return errors.New("there is nothing to fit: no row has a value in any column")
	}
	for j, seen := range look.Seen {
		if seen == 0 && look.Used > 0 {
			return plan.Errorf("column %q has no value in any row; use --exclude %s", f.Names[j], text.ShellWord(f.Names[j]))
		}
	}
	rows := f.missing()
	switch {
	case rows == "":
	case p.PCA > 0 && p.Chain: // what is dropped of a row is its cells: it keeps its place in time
		return plan.Wrong("PCA", "needs whole rows, %s, and no row of a sequence can be dropped; leave it out, or fill the cells first", rows)
	case p.PCA > 0:
		return plan.Wrong("PCA", "needs whole rows, %s; leave it out, or use --missing drop", rows)
	case !p.Mixture() && p.Penalty != nil:
		return plan.Wrong("Penalty", "needs whole rows, %s; give -k, or use --missing drop", rows)
	case !p.Mixture() && (p.Algorithm == plan.Breathing || p.Algorithm == plan.Exact || p.Algorithm == plan.MiniBatch):
		return plan.Wrong("Algorithm", "%s needs whole rows, %s; use lloyd, or --missing drop", p.Algorithm, rows)
	}
	return nil
}

// missing says how many cells are missing; "" for none.
func (f *Rows) missing() string {
	look := f.Survey
	if look.Gaps == nil || look.Missing == 0 && look.Empty == 0 {
		return ""
	}
	return fmt.Sprintf("but %s missing", text.Are(look.Missing+look.Empty*int64(len(look.Seen)), "cell"))
}

// CheckCriterion refuses a criterion that goes by distances between rows where cells are missing.
func (f *Rows) CheckCriterion(by plan.Criterion) error {
	distances := []string{string(plan.Silhouette), string(plan.Gap)}
	rows := f.missing()
	if rows == "" || !slices.Contains(distances, string(by)) {
		return nil
	}
	other := slices.IndexFunc(f.Plan.Kind.Criteria, func(c string) bool { return !slices.Contains(distances, c) })
	return plan.Wrong("Criterion", "%s needs whole rows, %s; use --criterion %s, one -k, or --missing drop", by, rows, f.Plan.Kind.Criteria[other])
}

// withoutEmpty gives rows without any cell the weight 0: they say nothing. In a sequence they keep their place in time all the same.
func (f *Rows) withoutEmpty(ctx context.Context) error {
	if f.Survey.Empty == 0 {
		return nil
	}
	src := Emptied(f.Source)
	table, ok := f.Source.(*data.Table)
	if !ok {
		f.Source = src
	} else {
		t := *table
		t.W = make([]float64, 0, t.N)
		r, err := src.Open(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		var b data.Block
		for len(t.W) < t.N {
			if err := r.Read(&b, 4096); err != nil {
				return err
			}
			t.W = append(t.W, b.W...)
		}
		f.Source = &t
	}
	f.UserRows, f.measured = f.Source, f.Source
	return nil
}

// Emptied returns src with the weight 0 for rows without any cell: they say nothing.
func Emptied(src data.Source) data.Source { return data.Viewed(src, emptyView{}) }

// emptied is a source in which rows without any cell have the weight 0.
type emptied struct{ data.Source }

// emptyView is the view of rows in which those without any cell weigh nothing.
type emptyView struct{ Weight float64 }

// Rows implements data.View.
func (emptyView) Rows(src data.Source) data.Source { return &emptied{src} }

// Open implements data.Source.
func (s *emptied) Open(ctx context.Context) (data.Reader, error) {
	r, err := s.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &emptiedReader{Reader: r}, nil
}

// emptiedReader gives every block new weights of its own: those of the reader below may be a view of the table, and several blocks are in use at
// once.
type emptiedReader struct{ data.Reader }

// Read implements data.Reader.
func (r *emptiedReader) Read(b *data.Block, n int) error {
	if err := r.Reader.Read(b, n); err != nil {
		return err
	}
	w := make([]float64, b.N)
	for i := range w {
		if !b.Empty(i) {
			w[i] = b.Weight(i)
		}
	}
	b.W = w
	return nil
}
