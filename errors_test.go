package latent

import (
	"context"
	"errors"
	"testing"

	"github.com/latent-go/latent/internal/fixtures"
)

// A program can tell what is wrong by the type of the error, and says it in the words of its user: of fields, or of flags.
func TestErrorsHaveTypes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	_, err := Fit(ctx, fixtures.Table(2, 1, 5, 2, 5, 3, 5), Spec{K: 1, Columns: []string{"x", "five"}})
	var constant *ConstantColumnError
	if !errors.As(err, &constant) || constant.Column != "five" || constant.Value != 5 ||
		err.Error() != `column "five" is constant (5 in every row): a mixture cannot give it a variance; leave it out` ||
		constant.Flags() != `column "five" is constant (5 in every row): a mixture cannot give it a variance; use --exclude five` {
		t.Errorf("%+v: %v", constant, err)
	}
	_, err = Fit(ctx, fixtures.Table(2, 0, 1, 1, 3, 1, 0), Spec{K: 1, Model: "bernoulli", Columns: []string{"a", "b"}})
	var row *RowError
	if !errors.As(err, &row) || row.Row != 2 || row.Column != "b" || row.Value != 3 || err.Error() != `row 2, column "b": 3 is not a bit (0 or 1)` ||
		row.Flags() != `row 2, column "b": 3 is not a bit (0 or 1); use --binarize T to make bits of numbers, or --exclude b` {
		t.Errorf("%+v: %v", row, err)
	}
	x := make([]float64, 0, 60)
	for i := range 30 { // every column the same as the other
		x = append(x, float64(i%7), float64(i%7))
	}
	_, err = Fit(ctx, fixtures.Table(2, x...), Spec{KRange: [2]int{1, 2}, Covariance: "full", Columns: []string{"a", "b"}})
	var degenerate *DegenerateError
	if !errors.As(err, &degenerate) || degenerate.Candidates != 2 || degenerate.AtFloor != 2 {
		t.Errorf("%+v: %v", degenerate, err)
	}
	_, err = Fit(ctx, fixtures.Table(1, 1, 2, 3), Spec{K: 9})
	var field *SpecError
	if !errors.As(err, &field) || field.Field != "K" || err.Error() != "K is 9, but the number of rows is 3" || field.Flags() != "-k is 9, but the number of rows is 3" {
		t.Errorf("%+v: %v", field, err)
	}
}
