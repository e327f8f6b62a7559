package latent

import (
	"context"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/updating"
	"github.com/latent-go/latent/model"
)

// Updated is what came of an update.
type Updated = updating.Updated

// Update goes on with a fit.
func Update(ctx context.Context, src data.Source, m *model.Model, forget float64, threads int) (*Updated, error) {
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	return updating.Update(ctx, src, m, forget, threads)
}
