package latent

import (
	"context"
	"fmt"
	"slices"

	"github.com/latent-go/latent/internal/columns"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// collinear says which columns put every group on the floor; "" where none do. It makes two passes, which is little beside
// the climbs of a fit: it is asked for only where a component is on the floor.
func (f *fit) collinear(ctx context.Context, becomes string) (string, error) {
	if !f.plan.Kind.Shaped || f.plan.PCA > 0 {
		return "", nil
	}
	d := len(f.names)
	if f.look.Used <= int64(d) {
		return fmt.Sprintf("there are %s for %s, so no group can vary in all directions: %s; use --pca N or --covariance diag", text.Count(f.look.Used, "row"), text.Count(d, "column"), becomes), nil
	}
	list, err := columns.Collinear(ctx, f.user, f.names, f.plan.Threads)
	if err != nil || list == nil {
		return "", err
	}
	return columns.Tell(list, d, becomes), nil
}

// flatGroups warns of collinear columns where they put the groups of a result on the floor.
func (f *fit) flatGroups(ctx context.Context, r *Fitted) error {
	if f.plan.Replica || !f.plan.Kind.Shaped || !f.plan.Shape.Matrix() || !r.onFloor() {
		return nil
	}
	said, err := f.collinear(ctx, "every group is at the floor of variances")
	if said != "" {
		r.warnFirst(model.Warn(model.Collinear, "%s", said))
	}
	return err
}

// collinear warns of collinear columns where they kept candidates from winning.
func (c *choice) collinear(ctx context.Context, r *Fitted) error {
	said, err := c.aboutCollinear(ctx, "candidates whose covariances join the columns are at the floor of variances and cannot win")
	if said != "" {
		r.warnFirst(model.Warn(model.Collinear, "%s", said))
	}
	return err
}

// aboutCollinear names collinear columns where a candidate whose covariances join columns is at the floor; "" elsewhere.
func (c *choice) aboutCollinear(ctx context.Context, becomes string) (string, error) {
	if !slices.ContainsFunc(c.all, func(x *contender) bool {
		return x.AtFloor && x.shape.Matrix()
	}) {
		return "", nil
	}
	return c.base.collinear(context.WithoutCancel(ctx), becomes)
}

// dominance warns where distances are those of one column almost alone, and nobody said that they should be.
func (f *fit) dominance(r *Fitted) {
	if f.plan.Mixture() || f.plan.Spec.Scale != "" || f.plan.Replica {
		return
	}
	if name, share := columns.Dominant(f.names, f.sd); name != "" {
		w := model.Warn(model.OneColumn, "column %q holds %s of the variance, so the distances, and with them the groups, are almost its own; --scale standard gives all columns one scale (--scale none says that this one is meant)", name, text.Percent(share))
		w.Column = name
		r.warn(w)
	}
}
