package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// How many names a summary lists where there may be many.
const (
	leftNamed    = 6 // columns that were left out
	columnsNamed = 6 // columns of a type
)

// readLines say what was read: rows and columns, what was left out, what the columns hold and what is missing.
func readLines(r *latent.Result, info *data.Info) []string {
	first, left := readLine(r), leftOutText(r, info)
	how := ""
	if info != nil {
		if info.FileRows > info.Rows+info.Dropped {
			first += fmt.Sprintf("; fitted on %s of %s rows", text.Thousands(info.Rows), text.Thousands(info.FileRows))
		}
		if info.Format == "csv" && (info.Decimal == "," || info.HeaderAuto && !info.Header) {
			how = fmt.Sprintf("; read with delimiter %q, decimal %q, %s", info.Delimiter, info.Decimal, map[bool]string{true: "a header", false: "no header"}[info.Header])
		}
	}
	if !r.ByHand && r.Init != "none" && r.Init != "" {
		how += fmt.Sprintf("; seed %d", r.Seed)
	}
	lines := []string{first + how}
	if r.ByHand { // the finding has said so
		lines[0] = ""
	}
	if left != "" {
		if one := first + "; " + left + how; utf8.RuneCountInString(one) <= width {
			lines[0] = one
		} else {
			lines = append(lines, left)
		}
	}
	return slices.DeleteFunc(append(lines, columnsLine(r), missingLine(r)), func(s string) bool { return s == "" })
}

// readLine says how many rows and columns there are.
func readLine(r *latent.Result) string {
	var b strings.Builder
	if r.Data != "" {
		b.WriteString(r.Data + ": ")
	}
	if r.Rows == 0 {
		fmt.Fprintf(&b, "a model of %s", text.Count(r.D, "column"))
	} else {
		fmt.Fprintf(&b, "%s, %s", text.Count(r.Rows, "row"), text.Count(r.D, "column"))
	}
	return b.String()
}

// leftOutText names the columns that were left out, and why: those of the data where they are at hand, or else those that the model
// remembers.
func leftOutText(r *latent.Result, info *data.Info) string {
	var left []string
	if info != nil {
		left = info.LeftOut()
	} else {
		for _, c := range r.LeftOut {
			left = append(left, fmt.Sprintf("%s (%s)", c.Column, c.Why))
		}
	}
	if len(left) == 0 {
		return ""
	}
	more := ""
	if len(left) > leftNamed {
		more = fmt.Sprintf(" and %d more", len(left)-leftNamed)
		left = left[:leftNamed]
	}
	return "left out: " + strings.Join(left, ", ") + more
}

// columnsLine says what the columns hold, where that may be of several types: how many of each, and which where they are few.
func columnsLine(r *latent.Result) string {
	if !kind.Of(r.ComponentKind()).Parted {
		return ""
	}
	var parts []string
	names, order := map[string][]string{}, []string{}
	for j, p := range r.Model.Places() {
		holds := kind.Of(p.Kind).Type().String()
		names[holds] = append(names[holds], r.Columns[j])
	}
	for _, p := range r.Model.Parts() {
		order = append(order, kind.Of(p.Kind).Type().String())
	}
	for _, holds := range order {
		s := text.Count(len(names[holds]), holds)
		if len(names[holds]) <= columnsNamed {
			s += " (" + strings.Join(names[holds], ", ") + ")"
		}
		parts = append(parts, s)
	}
	return "columns: " + strings.Join(parts, ", ")
}

// missingLine says what the rows lack.
func missingLine(r *latent.Result) string {
	m := r.Missing
	var parts []string
	if m.Cells > 0 {
		parts = append(parts, fmt.Sprintf("missing: %s in %s; the fit uses the cells that are there", text.Count(m.Cells, "cell"), text.Count(m.Rows, "row")))
	}
	switch {
	case m.EmptyRows > 0 && r.Transitions != nil:
		parts = append(parts, fmt.Sprintf("%s without any value keep%s a place in time, and %s not counted", text.Count(m.EmptyRows, "row"), text.Form(m.EmptyRows, "s", ""), text.Form(m.EmptyRows, "is", "are")))
	case m.EmptyRows > 0:
		parts = append(parts, fmt.Sprintf("%s without any value %s not fitted", text.Count(m.EmptyRows, "row"), text.Form(m.EmptyRows, "is", "are")))
	}
	return strings.Join(parts, "; ")
}

// typeNotes say what the table of groups shows of a column of each type.
var typeNotes = map[data.Type]string{
	data.Number:   "numbers: mean (standard deviation)",
	data.Category: "categories: the likeliest level and its share",
	data.Count:    "counts: the rate",
}

// groupsNote explains the table of groups, of whose columns the first were shown.
func groupsNote(w io.Writer, r *latent.Result, shown int) {
	k, more := kind.Of(r.ComponentKind()), len(r.Columns)-shown
	switch {
	case k.Parted:
		var parts []string
		for _, p := range r.Model.Places()[:shown] {
			if note := typeNotes[kind.Of(p.Kind).Type()]; !slices.Contains(parts, note) {
				parts = append(parts, note)
			}
		}
		note := strings.Join(parts, "; ")
		if more > 0 {
			note += fmt.Sprintf("; the first %s, --json has the other %d", text.Count(shown, "column"), more)
		}
		fmt.Fprintf(w, "(%s)\n", note)
	case more > 0:
		fmt.Fprintf(w, "(%s of the first %s; --json has the other %d)\n", k.Location.Plural, text.Count(shown, "column"), more)
	}
}
