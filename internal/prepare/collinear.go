package prepare

import (
	"context"
	"fmt"

	"github.com/latent-go/latent/internal/columns"
	"github.com/latent-go/latent/internal/text"
)

// Collinear says in a sentence which columns are collinear, and what becomes of the groups for that; "" where none are. It makes two
// passes, which is little beside the climbs of a fit: it is meant for fits with a component at the floor of variances.
func (f *Rows) Collinear(ctx context.Context, becomes string) (string, error) {
	if !f.Plan.Kind.Shaped || f.Plan.PCA > 0 || f.Survey.Gaps != nil || f.Plan.Kind.Parted {
		return "", nil
	}
	d := len(f.Names)
	if f.Survey.Used <= int64(d) {
		return fmt.Sprintf("there are %s for %s, so no %s can vary in all directions: %s; use --pca N or --covariance diag", text.Count(f.Survey.Used, "row"), text.Count(d, "column"), f.Plan.Part(), becomes), nil
	}
	list, err := columns.Collinear(ctx, f.UserRows, f.Names, f.Plan.Threads)
	if err != nil || list == nil {
		return "", err
	}
	return columns.Tell(list, d, becomes), nil
}
