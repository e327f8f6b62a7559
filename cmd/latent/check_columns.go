package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/columns"
	"github.com/latent-go/latent/internal/text"
)

// held returns what a profile of path reads standard input from, and what a second reading does: input cannot be read twice.
func held(path string, in io.Reader) (first, second io.Reader, err error) {
	if path != "-" {
		return in, in, nil
	}
	b, err := io.ReadAll(in)
	return bytes.NewReader(b), bytes.NewReader(b), err
}

// warnOfColumns adds to a profile what fits would say of its columns: that one is constant, that one outweighs the others, that
// some depend on each other. For the last it reads the rows once more and makes two passes over them, as much as a
// profile takes by itself.
func warnOfColumns(ctx context.Context, p *data.Report, path string, o data.Options) {
	var names []string
	var sd []float64
	for _, c := range p.Columns {
		if c.Use != "feature" || c.Kind == "text" {
			continue
		}
		if c.Kind == "constant" { // k-means would take it
			p.Warnings = append(p.Warnings, fmt.Sprintf("column %q is constant (%v in every row): a mixture cannot give it a variance; use --exclude %s", c.Name, c.Min, text.ShellWord(c.Name)))
		}
		names, sd = append(names, c.Name), append(sd, c.SD)
	}
	if name, share := columns.Dominant(names, sd); name != "" {
		p.Warnings = append(p.Warnings, fmt.Sprintf("column %q holds %s of the variance: k-means and K-medians would group by it almost alone; use --scale standard with them", name, text.Percent(share)))
	}
	o.Missing, o.AllowFewer = "drop", true
	src, info, err := data.Load(ctx, path, o)
	if err != nil { // the profile has told of it
		return
	}
	if list, err := columns.Collinear(ctx, src, info.Features, o.Threads); err == nil && list != nil {
		p.Warnings = append(p.Warnings, columns.Tell(list, len(info.Features), "with full covariances every group would be at the floor of variances"))
	}
}
