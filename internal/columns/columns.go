// Package columns looks at the columns of a table together: at those that depend on each other, and at one that outweighs the
// rest. It says so in words, the same before a fit and after it.
package columns

import (
	"context"
	"fmt"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
)

// Collinearity says that a column is in every row a constant plus multiples of other columns, up to a hundred-millionth of the
// columns' own variances. No covariance over such columns has a volume: each is at the floor of variances.
type Collinearity struct {
	Column string
	Of     []string // in the order of the columns; with more rows than columns at least one
}

// String says it in words.
func (c Collinearity) String() string {
	if len(c.Of) == 1 {
		return fmt.Sprintf("%q is a multiple of %q plus a constant", c.Column, c.Of[0])
	}
	return fmt.Sprintf("%q is a sum of multiples of %s", c.Column, quotedList(c.Of, 8))
}

// Collinear finds the collinear columns of src, whose columns are named: one for every direction in which no row varies, nil
// where there is none. It makes two passes, on up to so many threads. It does not look at more than 500 columns, nor where
// there are not more rows than columns. An error is one of src, or of a cell that is missing.
func Collinear(ctx context.Context, src data.Source, columns []string, threads int) ([]Collinearity, error) {
	look, err := sweep.Look(ctx, src, threads)
	if err != nil || look.Used <= int64(len(columns)) {
		return nil, err
	}
	relations, err := pca.Relations(ctx, src, look, threads)
	if err != nil {
		return nil, err
	}
	var list []Collinearity
	for _, r := range relations {
		c := Collinearity{Column: columns[r.Column]}
		for _, j := range r.Of {
			c.Of = append(c.Of, columns[j])
		}
		list = append(list, c)
	}
	return list, nil
}

// Tell names collinear columns out of d, says what becomes of groups with full covariances, and which flags help.
func Tell(list []Collinearity, d int, becomes string) string {
	var said, names []string
	for i, c := range list {
		names = append(names, c.Column)
		if i < 3 {
			said = append(said, c.String())
		}
	}
	if more := len(list) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("columns are collinear (%s): %s; use --exclude %s, --pca %d or --covariance diag", strings.Join(said, "; "), becomes, text.ShellWord(strings.Join(names, ",")), d-len(list))
}

// quotedList names things, the first few of many.
func quotedList(names []string, most int) string {
	var quoted []string
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if more := len(names) - len(quoted); more > 0 {
		return strings.Join(quoted, ", ") + fmt.Sprintf(" and %d more", more)
	}
	last := len(quoted) - 1
	if last < 1 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:last], ", ") + " and " + quoted[last]
}

// dominated is the share of the variance from which on one column decides distances.
const dominated = 0.9

// Dominant returns the column that holds more than nine tenths of the summed variances, and its share; "" where none does. sd
// are the standard deviations of the columns.
func Dominant(columns []string, sd []float64) (column string, share float64) {
	largest, at := 0.0, -1
	for j, s := range sd {
		if s > largest {
			largest, at = s, j
		}
	}
	if len(sd) < 2 || at < 0 {
		return "", 0
	}
	sum := 0.0
	for _, s := range sd {
		sum += s / largest * (s / largest) // no overflow
	}
	if share = 1 / sum; share <= dominated {
		return "", 0
	}
	return columns[at], share
}
