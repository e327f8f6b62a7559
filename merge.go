package latent

import (
	"context"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/merging"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// Merge says which components of m, a mixture, make one cluster, by the rows of src: those of the fit or others, whose columns are the model's,
// in order and in the user's units. method is that of Spec.Merge. It makes a pass for each merger, k - 1 at most for k components, beside noise one
// more, and one that labels the rows; threads, 0 for all cores, change no result.
//
// The model returned has the components, and so the density, of m; its labels are clusters. m stays as it is, and clusters that it has already
// are found anew. Result.Clusters of Told tells of both methods how it went. An error is a *SpecError where the method cannot be used.
func Merge(ctx context.Context, src data.Source, m *model.Model, method string, threads int) (*model.Model, *model.Clusters, error) {
	if err := data.CheckContext(ctx); err != nil {
		return nil, nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, nil, err
	}
	_, d := src.Shape()
	p, err := plan.New(plan.Spec{Model: m.Kind, K: m.K(), Types: m.Types, Threads: threads, Merge: method})
	switch {
	case err != nil:
		return nil, nil, err
	case method == "":
		return nil, nil, plan.Wrong("Merge", "names no method; choose overlap or entropy")
	case d != m.D():
		return nil, nil, &data.ArgumentError{Name: "src", Reason: "has another number of columns than the model"}
	}
	r, err := merging.Merge(ctx, src, m, p.Merge, p.Threads)
	if err != nil {
		return nil, nil, err
	}
	return r.Model, r.Clusters, nil
}
