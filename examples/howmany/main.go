// Command howmany asks a table how many groups it has, and how sure that is: every number of groups and shape is fitted, the
// best are listed by BIC, and where the choice is flat the two first are held against each other, row by row.
// With the command: latent fit @iris --criterion bic.
//
//	go run ./examples/howmany
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

func main() {
	// Neither K nor Covariance: both are chosen. KRange and Covariance would say from what, Criterion by what.
	if err := run(os.Stdout, "@iris", latent.Spec{}); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer, path string, spec latent.Spec) error {
	ctx := context.Background()
	src, info, err := data.Load(ctx, path, data.Options{})
	if err != nil {
		return err
	}
	spec.Columns = info.Features
	r, err := latent.Fit(ctx, src, spec)
	if err != nil {
		return err
	}
	best := r.Ranked()
	fmt.Fprintf(w, "%d candidates; the best of those that can win:\n", len(r.Candidates))
	for _, x := range best[:min(5, len(best))] {
		fmt.Fprintf(w, "  %d groups, %-18s BIC %.1f (+%.1f), %d parameters\n", x.K, x.Covariance, *x.BIC, *x.BIC-*best[0].BIC, *x.FreeParameters)
	}
	fmt.Fprintf(w, "the choice is %s\n", r.Choice.Verdict)
	if r.Choice.Verdict != "flat" {
		return nil
	}
	// A close call is one between two ways to see the same rows. Does the second split the groups of the first, or cut
	// across them?
	spec.K, spec.KRange, spec.Covariance = best[1].K, [2]int{}, best[1].Covariance
	second, err := latent.Fit(ctx, src, spec)
	if err != nil {
		return err
	}
	first, err := labels(ctx, r.Model, src)
	if err != nil {
		return err
	}
	other, err := labels(ctx, second.Model, src)
	if err != nil {
		return err
	}
	var a score.Agreement[int32, int32]
	for i := range first {
		if err := a.Add(first[i], other[i], 1); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "the two first: ARI %.2f; ", a.ARI())
	switch {
	case a.Homogeneity() > 0.95 || a.Completeness() > 0.95:
		fmt.Fprintln(w, "the finer one splits groups of the coarser, and cuts across none")
	default:
		fmt.Fprintln(w, "they see different groups")
	}
	return nil
}

// labels returns the group of every row.
func labels(ctx context.Context, m *model.Model, src data.Source) (all []int32, err error) {
	err = m.Rows(ctx, src, 0, func(s *model.Scored) error {
		all = append(all, s.Label...)
		return nil
	})
	return all, err
}
