package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

func outliersFlag(cmd *cobra.Command, into *float64) {
	cmd.Flags().Float64Var(into, "outliers", 0, "add each row's p-value, whether it is below this, such as 0.001, and what is oddest about rows where it is")
}

// checkOutliers refuses a --outliers that finds nothing, or all, and one whose result the output cannot hold.
func (a *applyFlags) checkOutliers(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("outliers") {
		return nil
	}
	switch p := a.outliers; {
	case !(p > 0 && p < 1):
		return usagef("--outliers is %s; it must be a probability above 0 and below 1, such as 0.001", text.Significant(p, 0))
	case p <= 1./(1+model.TailDraws):
		return usagef("--outliers is %s, and no p-value of %s draws is below that; give 0.0001 or more", text.Significant(p, 0), text.Thousands(model.TailDraws))
	}
	if format, err := data.FormatOf(a.output); a.output != "" && err == nil && format == "npy" {
		return usagef("--outliers adds a column of text, which .npy files do not hold; use .csv, .tsv or .parquet")
	}
	return nil
}

// oddRows adds to lines of output what --outliers asks for. Where it is nil it adds nothing.
type oddRows struct {
	tail        *model.Tail
	density     bool // else rows are held against other rows
	below       float64
	rows, found int64 // rows with a p-value, and those where it is below
}

// oddRows returns what --outliers asks for; nil without it.
func (a *applyFlags) oddRows(ctx context.Context, m *model.Model, src data.Source) (o *oddRows, err error) {
	if a.outliers == 0 {
		return nil, nil
	}
	o = &oddRows{below: a.outliers, density: m.HasDensity()}
	if o.density {
		o.tail, err = m.Tail(model.TailDraws, model.TailSeed, a.threads)
	} else {
		o.tail, err = m.TailAmong(ctx, src, a.threads)
	}
	return o, err
}

// columns are what is added to a line.
func (o *oddRows) columns() []data.OutColumn {
	if o == nil {
		return nil
	}
	return []data.OutColumn{{Name: "p_value", Kind: data.Float}, {Name: "outlier", Kind: data.Int}, {Name: "oddest", Kind: data.Text}}
}

// count counts row i of s, and returns its p-value, NaN where it has none.
func (o *oddRows) count(ctx context.Context, s *model.Scored, i int) (p float64, err error) {
	if p, err = o.tail.P(ctx, s, i); err != nil || p != p {
		return p, err
	}
	o.rows++
	if p < o.below {
		o.found++
	}
	return p, nil
}

// put writes the cells of row i of s. What is oddest is told of outliers alone.
func (o *oddRows) put(ctx context.Context, out *data.Out, s *model.Scored, i int) error {
	if o == nil {
		return nil
	}
	p, err := o.count(ctx, s, i)
	if err != nil {
		return err
	}
	out.Float(p)
	if !(p < o.below) {
		out.Int(0)
		out.Text("")
		return nil
	}
	odd, _, err := o.tail.Oddest(ctx, s, i)
	if err != nil {
		return err
	}
	out.Int(1)
	out.Text(odd.String())
	return nil
}

// outlierSummary is what score --json tells of --outliers.
type outlierSummary struct {
	Below    float64  `json:"below"`
	Rows     int64    `json:"rows"` // with a p-value
	Found    int64    `json:"found"`
	Expected float64  `json:"expected"` // by chance, of rows like those that the model stands for
	Draws    int      `json:"draws"`
	Seed     *uint64  `json:"seed"`           // of the draws; null where there are none
	SE       *float64 `json:"standard_error"` // of a p-value at the threshold; null where nothing is drawn
}

func (o *oddRows) summary() *outlierSummary {
	s := &outlierSummary{Below: o.below, Rows: o.rows, Found: o.found, Expected: o.below * float64(o.rows), Draws: o.tail.Draws()}
	if s.Draws > 0 {
		s.Seed, s.SE = new(uint64(model.TailSeed)), new(o.tail.StandardError(o.below))
	}
	return s
}

// tell says how many outliers there are, and how many there would be by chance.
func (o *oddRows) tell(w io.Writer) {
	if o == nil {
		return
	}
	s, drawn := o.summary(), ""
	if s.SE != nil {
		drawn = fmt.Sprintf(", seed %d; the standard error of %s is %s", *s.Seed, text.Significant(s.Below, 6), text.Significant(*s.SE, 2))
	}
	fmt.Fprintf(w, "latent: %s of %s %s a p-value below %s", text.Thousands(s.Found), text.Count(s.Rows, "row"), text.Form(s.Found, "has", "have"), text.Significant(s.Below, 6))
	switch {
	case o.density:
		fmt.Fprintf(w, ", where about %s would be expected by chance (%s%s)\n", text.Significant(s.Expected, 2), text.Count(s.Draws, "draw"), drawn)
	case drawn != "":
		fmt.Fprintf(w, ": the share of rows that are at least as far from their centres (among %s drawn at random%s)\n", text.Count(s.Draws, "row"), drawn)
	default:
		least := ""
		if n := float64(s.Rows); n > 0 && s.Below*n <= 1 {
			least = fmt.Sprintf(", which is %s or more with %s", text.Significant(1/n, 2), text.Count(s.Rows, "row"))
		}
		fmt.Fprintf(w, ": the share of the rows that are at least as far from their centres%s\n", least)
	}
}
