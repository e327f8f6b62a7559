package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/text"
)

// scaleNotes say what the numbers are of columns that --transform put on another scale.
func scaleNotes(r *latent.Result) (notes []string) {
	var scaled, dates, degrees []string
	for j, p := range r.Model.Places() {
		switch name := r.Columns[j]; p.Scale {
		case "":
		case "date":
			dates = append(dates, name)
		case "geo":
			degrees = append(degrees, name)
		default:
			scaled = append(scaled, fmt.Sprintf("%s (%s)", name, p.Scale))
		}
	}
	medians := r.Components[0].Median != nil
	for _, note := range []struct {
		columns []string
		what    string
	}{
		{scaled, scaledWhat(r)},
		{dates, map[bool]string{false: "the mean date", true: "the median date"}[medians]},
		{degrees, "the direction of the group's centre on the globe"},
	} {
		if note.columns != nil {
			notes = append(notes, columnNames(note.columns)+": "+note.what)
		}
	}
	return notes
}

// scaledWhat says what the number of a group is in a column that was fitted on another scale.
func scaledWhat(r *latent.Result) string {
	switch {
	case r.PCA != nil:
		return "the centre, taken back from that scale"
	case r.Components[0].Median != nil:
		return "the median"
	case r.Model.HasDensity():
		return "the median of the group, from its mean on that scale; --json has the covariance on that scale"
	}
	return "the centre on that scale, taken back (of log the geometric mean)"
}

// columnNames lists columns, the first of many.
func columnNames(columns []string) string {
	if n := len(columns); n > columnsNamed {
		return strings.Join(columns[:columnsNamed], ", ") + fmt.Sprintf(" and %d more", n-columnsNamed)
	}
	return text.List(slices.Clone(columns), "and")
}
