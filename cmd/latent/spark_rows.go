package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/transit"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/spark"
)

// sparkRows is what label and score ask of the machines that read the rows. encoding/gob sends it.
type sparkRows struct {
	Model         []byte
	Format        data.PieceFormat
	Options       data.Options
	Names         []string // of all columns, where they pass through
	Scores        bool     // those of score; else those of label
	Probabilities bool
	Factors       bool
	Mahalanobis   bool
	Sums          bool // of score --json
	Outliers      float64
}

// sparkSums are sums over a piece.
type sparkSums struct {
	Rows, Tested, Found int64
	Sum                 float64
}

// onSpark labels or scores rows that Spark reads, and lets it write the result to a folder.
func (a *applyFlags) onSpark(cmd *cobra.Command, args []string, job sparkRows) error {
	if err := a.checkSpark(cmd, &job); err != nil {
		return err
	}
	m, err := model.Load(args[0])
	if err != nil {
		return err
	}
	if a.outliers > 0 && !m.HasDensity() {
		return usagef("--outliers holds rows of a %s model against each other, which works with rows on one machine only; leave it or --engine spark out", m.Kind)
	}
	if m.IsChain() {
		return usagef("a hidden Markov model needs the rows of a sequence together: it works with rows on one machine only; leave --engine spark out")
	}
	if job.Scores && !m.HasDensity() && !job.Mahalanobis {
		return fmt.Errorf("%s: a %s model has no density to score rows by; use label", args[0], m.Kind)
	}
	if _, _, err := (labelExtras{factors: job.Factors}).expect(m); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	e, path := &a.data.engineFlags, a.data.named(args, 1)
	o, err := a.options(cmd, m)
	if err != nil {
		return err
	}
	in, err := e.source(path, &o)
	if err != nil {
		return err
	}
	o.Stream, o.Carry, o.Stdin, o.Name = true, a.all, nil, path
	p, err := spark.Open(cmd.Context(), e.spark, in, o)
	if err != nil {
		return err
	}
	defer p.Close()
	if a.all {
		job.Names = p.Names
	}
	if job.Model, err = os.ReadFile(args[0]); err != nil {
		return err
	}
	job.Format, job.Options, job.Outliers = *p.Format, o, a.outliers
	b, err := transit.Encode(job)
	if err != nil {
		return err
	}
	if job.Sums {
		return a.sumUp(cmd, p, m, b)
	}
	w := &rowWriter{sparkRows: &job, m: m}
	format := "parquet"
	if strings.HasSuffix(a.output, ".csv") {
		format = "csv"
	}
	return p.Save(cmd.Context(), b, w.columns(), format, a.output)
}

// checkSpark refuses flags that do not go together.
func (a *applyFlags) checkSpark(cmd *cobra.Command, job *sparkRows) error {
	if err := a.data.engineFlags.check(cmd); err != nil {
		return err
	}
	if err := a.checkOutliers(cmd); err != nil {
		return err
	}
	switch {
	case a.all && a.data.ID != "":
		return usagef("--id has no effect with --append, which passes every column through")
	case job.Sums && (a.output != "" || a.all || job.Mahalanobis):
		return usagef("--json prints sums only: -o, --append and --mahalanobis have no effect with it")
	case !job.Sums && a.output == "":
		return usagef("--engine spark writes to a folder: give -o DIR, which will hold Parquet files, or CSV files where its name ends in .csv")
	}
	return nil
}

// sumUp prints what score --json tells.
func (a *applyFlags) sumUp(cmd *cobra.Command, p *spark.Pieces, m *model.Model, job []byte) error {
	answers, err := p.Each(cmd.Context(), job)
	if err != nil {
		return err
	}
	var s scoreSummary
	odd := &oddRows{below: a.outliers, density: true}
	for _, b := range answers {
		var own sparkSums
		if err := json.Unmarshal(b, &own); err != nil {
			return err
		}
		s.Rows, s.Sum = s.Rows+own.Rows, s.Sum+own.Sum
		odd.rows, odd.found = odd.rows+own.Tested, odd.found+own.Found
	}
	if s.Rows > 0 {
		s.Mean = s.Sum / float64(s.Rows)
	}
	if a.outliers > 0 {
		if odd.tail, err = m.Tail(model.TailDraws, model.TailSeed, a.threads); err != nil {
			return err
		}
		s.Outliers = odd.summary()
	}
	return printJSON(cmd.OutOrStdout(), s)
}

// rowWriter is a sparkRows ready to serve pieces.
type rowWriter struct {
	*sparkRows
	m   *model.Model
	odd *oddRows
}

func (w *rowWriter) leading() leading { return leading{id: w.Options.ID, columns: w.Names} }

func (w *rowWriter) extras() labelExtras {
	return labelExtras{probabilities: w.Probabilities, factors: w.Factors}
}

// columns are those of the output.
func (w *rowWriter) columns() []data.OutColumn {
	odd := w.odd
	if w.Outliers > 0 && odd == nil {
		odd = new(oddRows)
	}
	if w.Scores {
		return scoreColumns(w.m, w.Mahalanobis, w.leading(), odd)
	}
	return labelColumns(w.m, w.extras(), w.leading(), odd)
}

// rowWriters keeps the last one: the pieces of a table are served one after another.
var rowWriters struct {
	sync.Mutex
	job  string
	last *rowWriter
}

// rowWriterOf returns what serves a job.
func rowWriterOf(job []byte, threads int) (*rowWriter, error) {
	rowWriters.Lock()
	defer rowWriters.Unlock()
	if rowWriters.last != nil && rowWriters.job == string(job) {
		return rowWriters.last, nil
	}
	w := &rowWriter{sparkRows: new(sparkRows), m: new(model.Model)}
	if err := transit.Decode(job, w.sparkRows); err != nil {
		return nil, err
	}
	if err := w.m.UnmarshalJSON(w.Model); err != nil {
		return nil, err
	}
	if w.Outliers > 0 {
		tail, err := w.m.Tail(model.TailDraws, model.TailSeed, threads)
		if err != nil {
			return nil, err
		}
		w.odd = &oddRows{tail: tail, below: w.Outliers, density: true}
	}
	rowWriters.job, rowWriters.last = string(job), w
	return w, nil
}

// servePiece implements spark.Handler for label and score.
func servePiece(ctx context.Context, job []byte, from string, body []byte, threads int) ([]byte, error) {
	w, err := rowWriterOf(job, threads)
	if err != nil {
		return nil, err
	}
	o := w.Options
	o.Threads = threads
	src, err := data.OpenPiece(ctx, &w.Format, from, body, o)
	if err != nil {
		return nil, err
	}
	odd := w.odd
	if odd != nil { // counts of its own
		odd = &oddRows{tail: odd.tail, below: odd.below, density: true}
	}
	f := &scoreFlags{applyFlags: applyFlags{threads: threads, all: w.Names != nil, columns: w.Names}}
	f.data.ID = w.Options.ID
	var out bytes.Buffer
	switch {
	case w.Sums:
		s, err := f.sums(ctx, w.m, src, odd)
		if err != nil {
			return nil, err
		}
		sums := sparkSums{Rows: s.Rows, Sum: s.Sum}
		if odd != nil {
			sums.Tested, sums.Found = odd.rows, odd.found
		}
		return json.Marshal(sums)
	case w.Scores:
		var distances func([]float64, *model.Scored)
		if w.Mahalanobis {
			if distances, err = w.m.Distances(); err != nil {
				return nil, err
			}
		}
		err = writeScores(ctx, &out, "cells", w.m, src, &f.applyFlags, distances, odd)
	default:
		err = writeLabels(ctx, &out, "cells", w.m, src, threads, w.extras(), f.leading(), odd)
	}
	return out.Bytes(), err
}
