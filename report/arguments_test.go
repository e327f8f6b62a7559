package report

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// What no page can be made of is an error of the call.
func TestPagesOfNothing(t *testing.T) {
	ctx, table := context.Background(), &data.Table{N: 1, D: 1, F64: []float64{1}}
	m := &model.Model{Kind: "kmeans", Columns: []string{"a"}, Means: [][]float64{{0}}}
	gather := func(ctx context.Context, m *model.Model, src data.Source) error {
		_, err := Gather(ctx, m, src, 1)
		return err
	}
	for name, err := range map[string]error{
		"no model": gather(ctx, nil, table), "an empty model": gather(ctx, &model.Model{}, table), "no context": gather(nil, m, table), "no rows": gather(ctx, m, nil),
		"no result": Write(io.Discard, Page{}), "a result without rows": Write(io.Discard, Page{Result: &latent.Result{Model: m}}), "a result without a model": Write(io.Discard, Page{Result: &latent.Result{}, Rows: &Rows{}}),
	} {
		var wrong *data.ArgumentError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := gather(ctx, m, table); err != nil {
		t.Errorf("a model and its rows: %v", err)
	}
}
