package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/columns"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// replay keeps what is read from standard input, which cannot be read twice, for a second reading: as much as the first one
// takes, which ends at --limit and at --max-memory, and no more than most bytes.
type replay struct {
	from io.Reader
	most int64
	kept []byte
	over bool // there was more
}

// Read implements io.Reader.
func (r *replay) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	switch {
	case r.over:
	case int64(len(r.kept)+n) > r.most:
		r.kept, r.over = nil, true
	default:
		r.kept = append(r.kept, p[:n]...)
	}
	return n, err
}

// again reports whether path can be read a second time, from o.Stdin where that is standard input: named pipes cannot.
func (r *replay) again(path string, o *data.Options) bool {
	if path == "-" {
		o.Stdin = bytes.NewReader(r.kept)
		return !r.over
	}
	info, err := os.Stat(path)
	return strings.HasPrefix(path, "@") || err == nil && info.Mode().IsRegular()
}

// isNumber reports whether a column is fitted as numbers.
func isNumber(c *data.Column) bool {
	return c.Use == "feature" && c.Kind != "text" && (c.Type == "" || c.Type == data.Number.String())
}

// warnOfColumns adds to a profile what fits would say of its columns: that one is constant, that one outweighs the others, that
// some depend on each other. Distances decide no hidden Markov model. For the last it reads the rows once more and makes two passes over them, as much as a
// profile takes by itself; without again it does not.
func warnOfColumns(ctx context.Context, p *data.Report, path string, o data.Options, again bool) {
	var names []string
	var sd []float64
	for _, c := range p.Columns {
		if !isNumber(&c) {
			continue
		}
		if c.Kind == "constant" { // k-means would take it
			p.Warnings = append(p.Warnings, fmt.Sprintf("column %q is constant (%s in every row): a mixture cannot give it a variance; use --exclude %s", c.Name, text.Significant(c.Min, 0), text.ShellWord(c.Name)))
		}
		names, sd = append(names, c.Name), append(sd, c.SD)
	}
	if name, share := columns.Dominant(names, sd); name != "" && !o.Chain {
		p.Warnings = append(p.Warnings, fmt.Sprintf("column %q holds %s of the variance: in k-means and K-medians it would decide the groups almost alone; use --scale standard with them", name, text.Percent(share)))
	}
	if !again {
		return
	}
	part := kind.PartNoun(o.Chain, false)
	o.Missing, o.AllowFewer = "drop", true
	o.Chain, o.Sequence, o.Time = false, "", "" // whose rows would keep their place without cells
	o.Mixed, o.Types, o.Columns, o.Exact = false, nil, nil, names
	src, info, err := data.Load(ctx, path, o)
	if err != nil { // the profile has told of it
		return
	}
	if list, err := columns.Collinear(ctx, src, info.Features, o.Threads); err == nil && list != nil {
		p.Warnings = append(p.Warnings, columns.Tell(list, len(info.Features), "with full covariances every "+part+" would be at the variance floor"))
	}
}

// skewed is the skewness above which a column of positive numbers is better fitted as logarithms: that of exponential waiting times.
const skewed = 2

// suggestScales adds to a profile which columns a logarithm would do good, and which dates can be fitted, with the flag for it.
func suggestScales(p *data.Report) {
	var names, told, flag []string
	for i, c := range p.Columns {
		if kinds := p.Dates[i]; len(kinds) > 0 && c.Use == "ignored" {
			var flags []string
			for _, kind := range kinds {
				flags = append(flags, "--transform "+text.ShellWord(kind+":"+data.ChangeName(c.Name))+map[string]string{"dmy": " (day first)", "mdy": " (month first)"}[kind])
			}
			p.Warnings = append(p.Warnings, fmt.Sprintf("column %q holds dates, and is left out; %s fits it as days", c.Name, text.List(flags, "or")))
		}
		if isNumber(&c) && c.Min > 0 && p.Skewness[i] > skewed {
			names, told, flag = append(names, strconv.Quote(c.Name)), append(told, strconv.FormatFloat(p.Skewness[i], 'f', 1, 64)), append(flag, data.ChangeName(c.Name))
		}
	}
	if names == nil {
		return
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s %s %s positive numbers with a long tail (skewness %s): %s better as logarithms, with --transform %s", text.Form(len(names), "column", "columns"),
		text.List(names, "and"), text.Form(len(names), "holds", "hold"), text.List(told, "and"), text.Form(len(names), "it is often fitted", "they are often fitted"), text.ShellWord("log:"+strings.Join(flag, ","))))
}
