package prepare

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// A column counts as discrete if it has at most fewValues distinct values in at least fewRows rows, as the row weights count them. A density
// is not meant for such a column.
const (
	fewValues = 5
	fewRows   = 50
)

// findDiscrete notes the columns of a Gaussian mixture that have few distinct values. Components can settle on a single value, where
// only the floor of variances bounds the density. It reads rows until every column has shown more values.
func (f *Rows) findDiscrete(ctx context.Context) error {
	if !f.Plan.Shaped() || f.Survey.W < fewRows || f.Plan.PCA != 0 {
		return nil
	}
	r, err := f.Source.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	seen := make([]map[float64]bool, len(f.Names))
	for j := range seen {
		seen[j] = map[float64]bool{}
	}
	var b data.Block
	for open := true; open; {
		if err := r.Read(&b, 4096); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		open = false
		for j, values := range seen {
			for i := 0; i < b.N && len(values) <= fewValues; i++ {
				if v := b.At(i, j); v == v && b.Weight(i) > 0 {
					values[v] = true
				}
			}
			open = open || len(values) <= fewValues
		}
	}
	for j, values := range seen {
		if len(values) <= fewValues && f.units(j) {
			f.Discrete = append(f.Discrete, f.Names[j])
		}
	}
	return ctx.Err()
}

// DiscreteWarning returns the warning of columns with few distinct values. There must be one at least.
func (f *Rows) DiscreteWarning() model.Warning {
	which, names := "column "+strconv.Quote(f.Discrete[0])+" has", f.Discrete
	if n := len(names); n > 1 {
		which = fmt.Sprintf("%d columns, %s first, have", n, strconv.Quote(names[0]))
	}
	return model.Warn(model.FewValues, "%s no more than %d distinct values: a group may collapse to one of them; if they are codes rather than measurements, use --exclude %s", which, fewValues, text.ShellWord(strings.Join(names, ",")))
}
