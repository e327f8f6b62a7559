package score

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// MostCells is how many cells a Crosstab may have: more than anybody reads, 8 MB.
const MostCells = 1_000_000

// Crosstab is a table of groups against known classes.
type Crosstab[G cmp.Ordered] struct {
	Groups  []G         `json:"groups"`
	Classes []string    `json:"classes"`
	Counts  [][]float64 `json:"counts"` // len(Groups) x len(Classes): the weight of the rows of the group that are of the class
}

// NewCrosstab returns the table of groups against classes, whose cells count tells, such as Agreement.Count. It keeps groups, and sorts a copy of
// classes as SortNames does. It is nil where it would have more than MostCells cells.
func NewCrosstab[G cmp.Ordered](groups []G, classes []string, count func(g G, class string) float64) *Crosstab[G] {
	if len(groups)*len(classes) > MostCells {
		return nil
	}
	c := &Crosstab[G]{Groups: groups, Classes: slices.Clone(classes), Counts: [][]float64{}}
	SortNames(c.Classes)
	for _, g := range groups {
		row := make([]float64, len(c.Classes))
		for j, class := range c.Classes {
			row[j] = count(g, class)
		}
		c.Counts = append(c.Counts, row)
	}
	return c
}

// SortNames sorts names of classes: finite numbers by size, then text by its bytes, then the empty name of rows without a class.
func SortNames(names []string) {
	number := func(s string) float64 {
		if v, err := strconv.ParseFloat(s, 64); err == nil && v-v == 0 {
			return v
		}
		return math.Inf(1)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == "") != (b == "") {
			return len(b) - len(a)
		}
		return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
	})
}
