package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// fitFlags are the flags of fit.
type fitFlags struct {
	data dataFlags
	spec specFlags
	out  outputFlags
	plot plotFlags
}

func fitCommand() *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:     "fit DATA... [-k N]",
		Short:   "Fit groups to a table and print a summary",
		Example: "  latent fit customers.csv -k 4\n  latent fit customers.csv               k and the covariance shape are chosen",
		Args:    f.data.input("a file, - or @name"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, f.data.named(args, 0)) },
	}
	f.spec.add(cmd)
	f.data.engineFlags.addFit(cmd)
	cmd.Flags().StringVar(&f.spec.Merge, "merge", "", "make clusters of components, after the fit: overlap, overlap:CUT, entropy or entropy:K")
	cmd.Flags().IntVar(&f.spec.Bootstrap, "bootstrap", 0, "repeat the fit, choice included, on B resampled tables: how stable the groups are (100 is customary)")
	cmd.Flags().IntVar(&f.spec.LRT, "lrt", 0, "test k groups against k + 1 by a bootstrap likelihood-ratio test of B samples (99 or 999)")
	cmd.Flags().BoolVar(&f.spec.KeepSums, "keep-sums", false, "keep in the model what latent update needs of these rows")
	f.data.addChoice(cmd)
	cmd.Flags().BoolVar(&f.data.Stream, "stream", false, "read the file again in every pass instead of holding its rows in memory")
	f.out.add(cmd)
	f.plot.add(cmd)
	return cmd
}

func (f *fitFlags) run(cmd *cobra.Command, path string) error {
	began := time.Now()
	var page plotPage
	check := func() (err error) {
		if f.data.on() && f.spec.Model == model.ChainKind {
			return usagef("--model %s needs the rows of a sequence together: it works with rows on one machine only; leave --engine spark out", f.spec.Model)
		}
		if err := f.data.engineFlags.check(cmd); err != nil {
			return err
		}
		switch {
		case f.data.on() && (f.out.report != "" || f.out.dir != ""):
			return usagef("--report and --out read rows on one machine; write the model with -o, and a page about some of the rows with latent report")
		case f.data.on() && f.out.labels != "" && f.data.ID != "":
			return usagef("--id has no effect on --labels with --engine spark; write the model with -o and use latent label --engine spark")
		}
		if f.plot.draw && (f.out.json || f.out.quiet) {
			return usagef("--json and -q print no summary: --plot has no effect with them")
		}
		f.plot.noColour = f.out.noColor
		if page, err = f.plot.page(cmd.OutOrStdout()); err != nil {
			return err
		}
		return f.out.validate(append(append(f.spec.files(), f.data.more...), path))
	}
	in, err := f.spec.open(cmd, path, &f.data, check, (*latent.Spec).Validate)
	if err != nil {
		return err
	}
	defer in.close()
	src, info, spec, read := in.src, in.info, in.spec, in.read
	if tell := hooksOf(cmd.Context()).Read; tell != nil {
		tell(src, info, f.data.used)
	}
	if f.spec.penalty == "auto" {
		v, err := latent.SuggestPenalty(cmd.Context(), src, spec, spec.K)
		if wrong := (*latent.SpecError)(nil); errors.As(err, &wrong) {
			return usageError{err}
		}
		if err != nil {
			return f.data.error(cmd.Context(), path, err)
		}
		spec.Penalty, spec.K = &v, 0
	}
	trace, see := f.out.watch(cmd, &spec)
	r, err := latent.Fit(cmd.Context(), src, spec, observers(cmd.Context(), see)...)
	trace.finish()
	if err != nil {
		return f.data.error(cmd.Context(), path, err)
	}
	describe(r, info, f.data.used)
	r.Timing.Read = read.Seconds()
	wrote := time.Now()
	if err := f.out.write(cmd, src, f.data.ID, r, trace, reported{path: path, info: info, read: f.data.used, command: repeat(cmd, []string{path})}); err != nil {
		return err
	}
	r.Timing.Write = time.Since(wrote).Seconds()
	r.Seconds = time.Since(began).Seconds()
	if tell := hooksOf(cmd.Context()).Result; tell != nil {
		tell(r)
	}
	if err := f.out.tell(cmd, r, info); err != nil {
		return err
	}
	if f.plot.draw {
		rows := &rowSource{context.WithoutCancel(cmd.Context()), r.Model, src, r.Threads, info.Sequences}
		if err := drawBelow(cmd.OutOrStdout(), r, page, rows); err != nil {
			return f.data.error(cmd.Context(), path, err)
		}
	}
	return f.out.end(cmd, r, r)
}

// unfinished says that a fit has not finished, and what to do: the warning that its result carries.
func unfinished(r *latent.Result) string {
	for _, w := range r.Warnings {
		if w.Code == model.Unfinished || w.Code == model.Interrupted {
			return w.Text
		}
	}
	return "not finished"
}

// outdated follows what has become of a file since it was read.
const outdated = ": the result is of the rows as they were before"

// describe adds what reading found out to the result and to its model.
func describe(r *latent.Result, info *data.Info, read data.Options) {
	r.Data, r.Dropped = info.Name, info.Dropped
	warnings := []model.Warning{}
	for _, text := range info.Warnings {
		w := model.Warning{Text: text}
		if text == info.Part {
			w.Code = model.PartRead
		}
		warnings = append(warnings, w)
	}
	r.Warnings = append(warnings, r.Warnings...)
	if err := info.Changed(); err != nil {
		r.Warnings = append(r.Warnings, model.Warn(model.RowsChanged, "%s%s", err, outdated))
	}
	r.LeftOut = append(r.LeftOut, leftOut(info)...)
	r.Model.Sequence, r.Model.Time = read.Sequence, read.Time
	p := r.Model.Provenance
	p.LeftOut = r.LeftOut
	p.Data, p.Dropped, p.Warnings = info.Name, info.Dropped, r.Warnings
}

// leftOut returns the columns that are no features though nobody left them out, and why.
func leftOut(info *data.Info) (out []model.LeftOut) {
	for _, c := range info.Columns {
		if c.Use == "ignored" && c.Why != "" && c.Why != "excluded" && c.Why != "not chosen" {
			out = append(out, model.LeftOut{Column: c.Name, Why: c.Why})
		}
	}
	return out
}

// nameOf is what a path is called in messages and results.
func nameOf(path string) string {
	if path == "-" {
		return data.StandardInput
	}
	return path
}

// fileError puts the name of the data before an error of the fit, unless it is there or the error is about a flag.
func fileError(path string, err error) error {
	path = nameOf(path)
	if _, wrong := writing(err); wrong {
		return err
	}
	if flag := (*latent.SpecError)(nil); err == nil || errors.As(err, &flag) || strings.HasPrefix(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
