package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// applyFlags are the flags of label and score.
type applyFlags struct {
	data     dataFlags
	output   string
	threads  int
	all      bool     // --append: every column of the input passes through
	unseen   string   // --unseen
	outliers float64  // --outliers; 0 where it is not given
	decode   string   // --decode, of label
	columns  []string // names of the columns of the input
}

func (a *applyFlags) add(cmd *cobra.Command) {
	a.data.add(cmd)
	a.data.addSequence(cmd)
	a.data.engineFlags.add(cmd)
	cmd.Flags().StringVarP(&a.output, "output", "o", "", "write to this file (.csv, .parquet or .npy) instead of standard output")
	cmd.Flags().BoolVar(&a.all, "append", false, "pass every column of the input through and add the new ones")
	unseenFlag(cmd, &a.unseen)
	outliersFlag(cmd, &a.outliers)
	threadsFlag(cmd, &a.threads)
}

func unseenFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "unseen", "error", "what to do with a level that the model does not know: error stops, missing takes it for a missing cell")
}

// input wants a model and a file, or a model alone where the rows are a table or a query.
func (a *applyFlags) input(cmd *cobra.Command, args []string) error {
	e := &a.data.engineFlags
	if !e.on() || e.table == "" && e.sql == "" {
		return atLeast(2, "a model and a file")(cmd, args)
	}
	return exactly(1, "a model, beside --table or --query,")(cmd, args)
}

// validate refuses, before anything is read, an output that cannot be written or is one of the inputs, and flags that
// would have no effect.
func (a *applyFlags) validate(inputs ...string) error {
	if a.all && a.data.ID != "" {
		return usagef("--id has no effect with --append, which passes every column through")
	}
	if a.output == "" {
		return nil
	}
	if _, err := data.FormatOf(a.output); err != nil {
		return usageError{err}
	}
	if err := distinctFiles(inputs, a.output); err != nil {
		return err
	}
	return reachable(a.output)
}

// load reads the model and the columns of the data that it needs, by name.
func (a *applyFlags) load(cmd *cobra.Command, modelFile, path string) (*model.Model, data.Source, error) {
	if err := a.data.engineFlags.check(cmd); err != nil {
		return nil, nil, err
	}
	var err error
	if a.threads, err = checkThreads(cmd, a.threads); err != nil {
		return nil, nil, err
	}
	if err := a.checkOutliers(cmd); err != nil {
		return nil, nil, err
	}
	if err := a.validate(append(a.data.more, modelFile, path)...); err != nil {
		return nil, nil, err
	}
	m, src, info, err := a.read(cmd, modelFile, path)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range info.Columns {
		a.columns = append(a.columns, c.Name)
	}
	return m, src, nil
}

// read is load once flags are checked.
func (a *applyFlags) read(cmd *cobra.Command, modelFile, path string) (*model.Model, data.Source, *data.Info, error) {
	m, err := model.Load(modelFile)
	if err != nil {
		return nil, nil, nil, err
	}
	src, info, err := a.rows(cmd, m, path)
	return m, src, info, err
}

// rows reads the columns of the data that a model needs, by name.
func (a *applyFlags) rows(cmd *cobra.Command, m *model.Model, path string) (data.Source, *data.Info, error) {
	o, err := a.options(cmd, m)
	if err != nil {
		return nil, nil, err
	}
	o.Stream, o.Carry = a.all && !o.Chain || o.Stream, a.all // cells are text: they pass through without being held
	o.Name = calledIn(cmd.Context(), path)
	src, info, err := data.Load(cmd.Context(), path, o)
	if tooLarge := (*data.MemoryError)(nil); errors.As(err, &tooLarge) && !o.Stream && path != "-" {
		o.Stream = true // a few passes over the file, and no memory for its rows
		src, info, err = data.Load(cmd.Context(), path, o)
	}
	if err != nil {
		return nil, nil, err
	}
	a.data.used = o
	for _, w := range info.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s\n", w)
	}
	return src, info, nil
}

// options returns the options for reading the columns of a model.
func (a *applyFlags) options(cmd *cobra.Command, m *model.Model) (data.Options, error) {
	o, err := a.data.options(cmd, a.threads)
	if err != nil {
		return o, err
	}
	k, why := kind.Of(m.ComponentKind()), m.WholeRows()
	whole := why != ""
	switch {
	case whole && o.Missing == kind.Model:
		return o, usagef("--missing model does not apply to this model: %s; use --missing drop, or fill the cells first by another model (latent impute)", why)
	case whole && o.Missing == "":
		o.Missing = kind.Refuse
	}
	if err := missing(&o, k); err != nil {
		return o, err
	}
	o.CanModel = !whole && slices.Contains(k.Missing, kind.Model)
	ofModel(&o, m)
	if cmd.Flags().Changed("decode") && !m.IsChain() {
		return o, usagef("--decode is for a hidden Markov model (--model hmm), and this is a %s model; leave it out", m.Kind)
	}
	if a.outliers > 0 && m.IsChain() {
		return o, usagef("--outliers holds rows against draws of single rows, which those of a hidden Markov model are not; its log densities are those of latent score")
	}
	if err := inSequences(cmd, &o, m); err != nil {
		return o, err
	}
	switch {
	case a.unseen == "" || a.unseen == "error": // report has no such flag
		return o, nil
	case a.unseen != "missing":
		return o, usagef("--unseen %q is not known; choose one of error, missing", a.unseen)
	case m.Levels == nil:
		return o, usagef("--unseen missing has no effect: the model has no columns of categories")
	case o.Missing != kind.Model:
		return o, usagef("--unseen missing takes a level that the model does not know for a missing cell, which --missing %s does not allow; use --missing model", o.Missing)
	}
	o.Unseen = a.unseen
	return o, nil
}

// inSequences has the rows of a hidden Markov model read in their order in time, by the columns that flags name or else by those of the fit.
func inSequences(cmd *cobra.Command, o *data.Options, m *model.Model) error {
	if o.Chain = m.IsChain(); !o.Chain {
		if flag := sequenceFlag(cmd); flag != "" {
			return usagef("--%s is for a hidden Markov model (--model hmm), and this is a %s model; leave it out", flag, m.Kind)
		}
		return nil
	}
	if f := cmd.Flags().Lookup("sequence"); f != nil && !f.Changed {
		o.Sequence = m.Sequence
	}
	if f := cmd.Flags().Lookup("time"); f != nil && !f.Changed {
		o.Time = m.Time
	}
	return nil
}

// ofModel makes options those of the columns of a model.
func ofModel(o *data.Options, m *model.Model) {
	k := kind.Of(m.ComponentKind())
	o.Exact, o.AllowEmpty, o.Dates = m.Columns, true, m.Dates()
	o.Mixed, o.Categories, o.Levels = k.Parted, k.Cells.Levels, m.Levels
	if o.Mixed {
		o.ExactTypes = m.Types
	}
}

// everyColumn returns the options that hand out every cell of a table beside those that m was fitted to, which it was read with o.
func everyColumn(o data.Options, m *model.Model) data.Options {
	ofModel(&o, m)
	o.Columns, o.Exclude, o.Types = nil, nil, nil
	o.Stream, o.Carry, o.Float32 = o.Stream || !o.Chain, true, false // sequences in pieces are put together in memory
	return o
}

// emit writes to the output file, whole or not at all, or to standard output.
func (a *applyFlags) emit(cmd *cobra.Command, write func(w io.Writer, format string) error) error {
	if a.output == "" {
		return write(cmd.OutOrStdout(), "csv")
	}
	format, err := data.FormatOf(a.output)
	if err != nil {
		return err
	}
	return writeAll("", []output{{a.output, ""}}, func(_ output, w io.Writer) error { return write(w, format) })
}

func labelCommand() *cobra.Command {
	var a applyFlags
	var more labelExtras
	cmd := &cobra.Command{
		Use: "label MODEL DATA...", Short: "Label every row with its group", Example: "  latent label model.json new.csv",
		Args: a.input,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if more.decode, err = model.ParseDecoding(a.decode); err != nil {
				return usagef("--decode %v", err)
			}
			if a.data.on() {
				return a.onSpark(cmd, args, sparkRows{Probabilities: more.probabilities, Factors: more.factors})
			}
			a.data.more = args[2:]
			m, src, err := a.load(cmd, args[0], args[1])
			if err != nil {
				return err
			}
			if _, _, err := more.expect(m); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			odd, err := a.oddRows(cmd.Context(), m, src)
			if err != nil {
				return err
			}
			err = a.emit(cmd, func(w io.Writer, format string) error {
				return a.data.error(cmd.Context(), args[1], writeLabels(cmd.Context(), w, format, m, src, a.threads, more, a.leading(), odd))
			})
			if err != nil {
				return err
			}
			odd.tell(cmd.ErrOrStderr())
			return nil
		},
	}
	a.add(cmd)
	cmd.Flags().BoolVar(&more.probabilities, "probabilities", false, "add the probability of every group")
	cmd.Flags().BoolVar(&more.factors, "scores", false, "add f1, f2, ...: the factors expected of the row in its group (of a model with factors)")
	cmd.Flags().StringVar(&a.decode, "decode", "", "hmm: viterbi (the likeliest path of states, the default), smooth (the likeliest state of each row), or filter (the same from the rows before alone)")
	return cmd
}

// scoreFlags are those of score alone.
type scoreFlags struct {
	applyFlags
	against     againstFlags
	mahalanobis bool
	json        bool
}

func scoreCommand() *cobra.Command {
	var f scoreFlags
	cmd := &cobra.Command{
		Use: "score MODEL DATA...", Short: "How well each row fits the model (log density; low is unusual), or how good labels are", Example: "  latent score model.json new.csv",
		Long: "Prints the log density of every row under a mixture, in nats. With --against COLUMN or --validity it prints instead how good the labels are:\n\n" +
			"  latent score MODEL DATA --against COLUMN                  those that the model gives\n" +
			"  latent score DATA --label-column C [--against COLUMN]     those in a column of the table",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.against.labels != "" {
				if len(args) != 1 {
					return usagef("score --label-column takes a file with labels and data, and no model, such as: latent score labelled.csv --label-column label")
				}
				return nil
			}
			return f.input(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.data.more = args[min(2, len(args)):]
			judged, err := f.against.asked(cmd, &f)
			if err != nil {
				return err
			}
			switch {
			case judged && f.data.on():
				return usagef("--against and --validity work with rows on one machine only, not with --engine spark")
			case judged:
				return f.judge(cmd, args)
			case f.data.on():
				return f.onSpark(cmd, args, sparkRows{Scores: true, Mahalanobis: f.mahalanobis, Sums: f.json})
			}
			return f.score(cmd, args[0], args[1])
		},
	}
	f.add(cmd)
	f.against.add(cmd, &f.data)
	cmd.Flags().BoolVar(&f.json, "json", false, "print rows, sum and mean, or the indices, as JSON")
	cmd.Flags().BoolVar(&f.mahalanobis, "mahalanobis", false, "add each row's squared Mahalanobis distance to its group")
	return cmd
}

// scoreSummary is what score --json prints.
type scoreSummary struct {
	Rows int64   `json:"rows"`
	Sum  float64 `json:"sum"`
	Mean float64 `json:"mean"`
	// Outliers is nil without --outliers.
	Outliers *outlierSummary `json:"outliers,omitempty"`
}

// score prints the log density of every row.
func (f *scoreFlags) score(cmd *cobra.Command, modelFile, path string) error {
	if f.json && (f.output != "" || f.all || f.mahalanobis) {
		return usagef("--json prints sums only: -o, --append and --mahalanobis have no effect with it")
	}
	m, src, err := f.load(cmd, modelFile, path)
	if err != nil {
		return err
	}
	odd, err := f.oddRows(cmd.Context(), m, src)
	if err != nil {
		return err
	}
	var distances func([]float64, *model.Scored)
	if f.mahalanobis {
		if distances, err = m.Distances(); err != nil {
			return fmt.Errorf("%s: %w", modelFile, err)
		}
	} else if !m.HasDensity() && (odd == nil || f.json) {
		return fmt.Errorf("%s: a %s model has no density to score rows by; use label", modelFile, m.Kind)
	}
	if !f.json {
		err := f.emit(cmd, func(w io.Writer, format string) error {
			return f.data.error(cmd.Context(), path, writeScores(cmd.Context(), w, format, m, src, &f.applyFlags, distances, odd))
		})
		if err != nil {
			return err
		}
		odd.tell(cmd.ErrOrStderr())
		return nil
	}
	s, err := f.sums(cmd.Context(), m, src, odd)
	if err != nil {
		return f.data.error(cmd.Context(), path, err)
	}
	return printJSON(cmd.OutOrStdout(), s)
}

// sums returns what --json prints.
func (f *scoreFlags) sums(ctx context.Context, m *model.Model, src data.Source, odd *oddRows) (s scoreSummary, err error) {
	err = rowsOfFile(ctx, m, src, model.Filter, f.threads, func(r *model.Scored) error {
		for i, v := range r.LogDensity {
			s.Sum += v
			if odd == nil {
				continue
			}
			if _, err := odd.count(ctx, r, i); err != nil {
				return err
			}
		}
		s.Rows += int64(r.N)
		return nil
	})
	if s.Rows > 0 {
		s.Mean = s.Sum / float64(s.Rows)
	}
	if odd != nil {
		s.Outliers = odd.summary()
	}
	return s, err
}

// scoreColumns are the columns that writeScores writes.
func scoreColumns(m *model.Model, distances bool, lead leading, odd *oddRows) []data.OutColumn {
	var cols []data.OutColumn
	if m.HasDensity() {
		cols = append(cols, data.OutColumn{Name: "log_density", Kind: data.Float})
	}
	if distances {
		cols = append(cols, data.OutColumn{Name: "mahalanobis_squared", Kind: data.Float})
	}
	return lead.with(append(cols, odd.columns()...)...)
}

// writeScores writes the log density of every row, of models that have one, where distances is not nil the squared
// Mahalanobis distance, and what odd adds.
func writeScores(ctx context.Context, w io.Writer, format string, m *model.Model, src data.Source, a *applyFlags, distances func([]float64, *model.Scored), odd *oddRows) error {
	lead := a.leading()
	out, err := data.Create(w, format, scoreColumns(m, distances != nil, lead, odd))
	if err != nil {
		return err
	}
	var far []float64
	how := model.Filter // which is enough for log densities
	if distances != nil {
		how = model.Viterbi
	}
	err = rowsOfFile(ctx, m, src, how, a.threads, func(s *model.Scored) error {
		if distances != nil {
			far = slices.Grow(far[:0], s.N)[:s.N]
			distances(far, s)
		}
		for i, v := range s.LogDensity {
			lead.put(out, s.Block, i)
			if m.HasDensity() {
				out.Float(v)
			}
			if distances != nil {
				out.Float(far[i])
			}
			if err := odd.put(ctx, out, s, i); err != nil {
				return err
			}
			if err := out.End(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Close()
}
