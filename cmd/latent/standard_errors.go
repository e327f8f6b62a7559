package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// standardErrors prints what -v adds of them: a line a group, like the table of groups, and the variances in a second.
func standardErrors(w io.Writer, r *latent.Result) {
	e := r.StandardErrors
	switch {
	case e == nil:
		return
	case e.Why != "":
		fmt.Fprintf(w, "no standard errors: %s\n", e.Why)
		return
	}
	few, of, counts := "", text.Count(e.Rows, "row"), float64(e.Rows)
	if e.Rows == r.Rows && r.TotalWeight != counts { // all of them, and row weights count rows
		counts = r.TotalWeight
		of += " of total weight " + text.Significant(r.TotalWeight, 6)
	}
	if counts < 10*float64(r.FreeParameters) {
		few = " (few for so many parameters: take them as a rough guide)"
	}
	fmt.Fprintf(w, "standard errors, by %s of %s%s:\n", e.Method, of, few)
	head, lines := []string{tell.Part(r), "share"}, make([][]string, len(r.Components))
	if r.Transitions != nil {
		head[1] = "stays"
	}
	for c := range r.Components {
		lines[c] = []string{strconv.Itoa(c + 1), "-"}
		switch {
		case e.Weights != nil:
			lines[c][1] = plusMinus(r.Components[c].Weight, e.Weights[c])
		case e.Transitions != nil:
			lines[c][1] = plusMinus(r.Transitions[c][c], e.Transitions[c][c])
		}
	}
	for j, name := range r.Columns {
		if len(head) > 7 {
			break
		}
		of, values := errorsOf(r, e, j)
		if of == nil {
			continue
		}
		head = append(head, name)
		for c := range lines {
			lines[c] = append(lines[c], plusMinus(values(&r.Components[c]), of(c)))
		}
	}
	printTable(w, head, lines)
	if r.Noise != nil && len(e.Noise) == 1 {
		fmt.Fprintf(w, "share of the noise: %s\n", plusMinus(r.Noise.Weight, e.Noise[0]))
	}
	fmt.Fprintln(w, "(--json has all of them, those of covariances and levels too)")
}

// errorsOf returns the standard errors of the components' places in column j, and these places; nil where there are none, or more than one a
// component, as of levels.
func errorsOf(r *latent.Result, e *model.StandardErrors, j int) (of func(c int) float64, values func(*model.Component) float64) {
	p := placeOf(r, j)
	list := e.Means
	switch {
	case p.kind.Cells.Levels:
		return nil, nil
	case p.kind.Cells.Bits:
		list = e.Probabilities
		values = func(x *model.Component) float64 { return x.Probability.([]float64)[j] }
	case p.parted && !p.kind.Cells.Units:
		list, values = e.Rates, p.number
	default:
		values = p.number
	}
	if list == nil {
		return nil, nil
	}
	return func(c int) float64 { return list[c][p.At] }, values
}

// plusMinus writes an estimate and its standard error, to the digit that the error makes doubtful. An estimate at the edge of
// its range has none.
func plusMinus(v, se float64) string {
	switch {
	case !(se > 0) && v >= 0 && v <= 1:
		return text.Share(v, 3) + " (edge)"
	case !(se > 0):
		return text.Short(v) + " (edge)"
	}
	return text.PlusMinus(v, se)
}
