package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
)

// mostLoadings is how many columns and factors a table of loadings shows.
const (
	mostLoadings = 40
	mostFactors  = 10
)

// loadings prints for each group what the factors have to do with the columns, of a model with factors.
func loadings(w io.Writer, r *latent.Result) {
	if len(r.Components) == 0 || r.Components[0].Loadings == nil || r.Model != nil && r.Model.PCA() != nil {
		return
	}
	for _, x := range r.Components {
		fmt.Fprintln(w)
		if r.K > 1 {
			fmt.Fprintf(w, "%s %d:\n", tell.Part(r), x.Label)
		}
		loadingTable(w, r.Columns, x.Loadings, x.Covariance.Diag())
	}
	fmt.Fprintln(w, "(f1, f2, ...: the correlation of a column with each factor; unique: the share of its variance that no factor explains)")
	d, q := len(r.Columns), r.Components[0].Factors
	if d > mostLoadings {
		fmt.Fprintf(w, "(the %d columns that the factors explain best; --json has all %s)\n", mostLoadings, text.Whole(float64(d)))
	}
	if q > mostFactors {
		fmt.Fprintf(w, "(the first %d factors; --json has all %d)\n", mostFactors, q)
	}
}

// loadingTable prints the loadings of one group, whose columns have such variances.
func loadingTable(w io.Writer, columns []string, l [][]float64, variance []float64) {
	q := min(len(l[0]), mostFactors)
	head := []string{"column"}
	for f := range q {
		head = append(head, "f"+strconv.Itoa(f+1))
	}
	head = append(head, "unique")
	unique, order := make([]float64, len(columns)), make([]int, len(columns))
	for j, row := range l {
		order[j], unique[j] = j, 1
		for _, v := range row {
			unique[j] -= v * v / variance[j]
		}
	}
	if len(order) > mostLoadings {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(unique[a], unique[b]) })
		order = order[:mostLoadings]
	}
	var lines [][]string
	for _, j := range order {
		line := []string{columns[j]}
		for _, v := range l[j][:q] {
			line = append(line, text.Decimals(v/math.Sqrt(variance[j]), 3))
		}
		lines = append(lines, append(line, text.Share(max(unique[j], 0), 3)))
	}
	printTable(w, head, lines)
}
