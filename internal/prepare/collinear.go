package prepare

import (
	"context"
	"fmt"

	"github.com/latent-go/latent/internal/columns"
	"github.com/latent-go/latent/internal/text"
)

// Collinear says which columns put every group on the floor; "" where none do. It makes two passes, which is little beside
// the climbs of a fit: it is asked for only where a component is on the floor.
func (f *Rows) Collinear(ctx context.Context, becomes string) (string, error) {
	if !f.Plan.Kind.Shaped || f.Plan.PCA > 0 {
		return "", nil
	}
	d := len(f.Names)
	if f.Survey.Used <= int64(d) {
		return fmt.Sprintf("there are %s for %s, so no group can vary in all directions: %s; use --pca N or --covariance diag", text.Count(f.Survey.Used, "row"), text.Count(d, "column"), becomes), nil
	}
	list, err := columns.Collinear(ctx, f.UserRows, f.Names, f.Plan.Threads)
	if err != nil || list == nil {
		return "", err
	}
	return columns.Tell(list, d, becomes), nil
}
