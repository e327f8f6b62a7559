package latent

import (
	"context"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/updating"
	"github.com/latent-go/latent/model"
)

// UpdateSpec says how new rows are weighed against those before. The zero value of every field means its default.
type UpdateSpec struct {
	// Forget is what the weights of the old rows are multiplied by, above 0 and at most 1, the default.
	Forget float64
	// Threads is the number of threads, at most MaxThreads: 0 means all cores. It changes no result.
	Threads int
}

// Updated is what came of an update. Its JSON is what the command prints with --json.
type Updated struct {
	Kind        string  `json:"model"`
	K           int     `json:"k"`
	N           int64   `json:"n"`            // all rows of positive weight that the model has seen
	TotalWeight float64 `json:"weight_total"` // what they count: the sum of their weights, less what was forgotten
	model.Update
	Seconds    float64         `json:"seconds"`
	Threads    int             `json:"threads"`
	Components []UpdatedGroup  `json:"components"`
	Warnings   []model.Warning `json:"warnings"`
	Version    string          `json:"version"`
	Model      *model.Model    `json:"-"` // the updated model, with sums for the next update
}

// UpdatedGroup says what an update did to a component.
type UpdatedGroup struct {
	Component int     `json:"component"`    // from 1, in the order of the model
	Label     int     `json:"label"`        // of its rows, from 1: its cluster where components are merged
	Before    float64 `json:"share_before"` // the share of its rows before, by weight
	Share     float64 `json:"share"`        // and now
}

// Update goes on with the fit of m by the rows of src, which came later: it needs what Spec.KeepSums kept of the rows before, and not the rows.
// The columns of src are the model's, in their order. The rows are explained by the groups there are: none opens, and each keeps its number. The
// model returned has sums too, so that updates follow each other. m stays as it is.
//
// A mixture climbs the log-likelihood of the new rows plus what the sums tell of that of the old ones. Where all rows are of one
// kind the result is that of a fit of all, but for a small part of a standard error where groups are apart. Centres, and mixtures that
// were fitted by hard EM, take the old rows with the labels that they had.
//
// Its error is a *SpecError where the model holds no sums or spec cannot be used.
func Update(ctx context.Context, src data.Source, m *model.Model, spec UpdateSpec) (*Updated, error) {
	began := time.Now()
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if spec.Forget == 0 {
		spec.Forget = 1
	}
	_, d := src.Shape()
	p, err := plan.New(plan.Spec{K: 1, Threads: spec.Threads}) // checks the number of threads, and finds the default
	switch {
	case err != nil:
		return nil, err
	case !(spec.Forget > 0 && spec.Forget <= 1):
		return nil, plan.Wrong("Forget", "is %v; it must be above 0 and at most 1", spec.Forget)
	case updating.Refuse(m) != nil:
		return nil, updating.Refuse(m)
	case m.Sums == nil:
		return nil, plan.Wrong("KeepSums", "was not set: the model holds no sums of its rows; fit it with --keep-sums")
	case d != m.D():
		return nil, &data.ArgumentError{Name: "src", Reason: "has another number of columns than the model"}
	}
	next, err := updating.Update(ctx, src, m, spec.Forget, p.Threads)
	if err != nil {
		return nil, err
	}
	u := &Updated{Kind: m.Kind, K: m.K(), N: next.Sums.Rows, TotalWeight: next.Sums.Weight, Update: *next.Provenance.Update, Threads: p.Threads,
		Warnings: next.Provenance.Warnings, Version: Version, Model: next}
	for c := range m.K() {
		u.Components = append(u.Components, UpdatedGroup{c + 1, next.LabelOf(c) + 1, m.Sums.Groups[c] / m.Sums.Weight, next.Sums.Groups[c] / next.Sums.Weight})
	}
	u.Seconds = time.Since(began).Seconds()
	return u, nil
}
