package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

// fitFlags are the flags of fit.
type fitFlags struct {
	data dataFlags
	spec specFlags
	out  outputFlags
}

func fitCommand() *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:     "fit DATA -k N",
		Short:   "Fit groups to a table and print a summary",
		Example: "  latent fit customers.csv -k 4",
		Args:    exactly(1, "a file, - or @name"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.spec.add(cmd)
	f.data.addChoice(cmd)
	cmd.Flags().BoolVar(&f.data.Stream, "stream", false, "read the file again in every pass instead of holding its rows in memory")
	f.out.add(cmd)
	return cmd
}

func (f *fitFlags) run(cmd *cobra.Command, path string) error {
	if err := applyConfig(cmd, f.spec.config); err != nil {
		return err
	}
	spec, err := f.spec.spec(cmd)
	if err != nil {
		return err
	}
	o, err := f.data.options(cmd, spec.Threads)
	if err != nil {
		return err
	}
	o.Seed = f.spec.seed
	inputs := []string{path}
	if kind, name, _ := strings.Cut(f.spec.init, ":"); kind == "model" || kind == "centers" {
		inputs = append(inputs, name)
	}
	if err := f.out.validate(inputs); err != nil {
		return err
	}
	if spec.K == 0 { // before any file is read for a start
		return usageError{spec.Validate()}
	}
	if kind, name, _ := strings.Cut(f.spec.init, ":"); kind == "labels" && name != "" {
		o.Exclude = append(slices.Clone(o.Exclude), name) // what the start is made of is not fitted
	}
	if err := f.start(cmd.Context(), &spec, path, o); err != nil {
		return err
	}
	if err := spec.Validate(); err != nil {
		return usageError{err}
	}
	began := time.Now()
	src, info, err := data.Load(cmd.Context(), path, o)
	if err != nil {
		return err
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	read := time.Since(began)
	spec.Columns = info.Features
	trace := f.out.watch(cmd, &spec)
	r, err := latent.Fit(cmd.Context(), src, spec)
	trace.finish()
	if err != nil {
		return fileError(path, err)
	}
	describe(r, info)
	r.Timing.Read = read.Seconds()
	wrote := time.Now()
	if err := f.out.write(cmd, src, o.ID, r, trace); err != nil {
		return err
	}
	r.Timing.Write = time.Since(wrote).Seconds()
	r.Seconds = time.Since(began).Seconds()
	if err := f.out.tell(cmd, r, info); err != nil {
		return err
	}
	if !r.Converged { // never in silence, --quiet or not
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s\n", unfinished(r))
	}
	if r.Interrupted {
		return exitStatus(exitInterrupted)
	}
	if err := f.out.demands(cmd, r); err != nil {
		return err
	}
	if !r.Converged && !f.out.allowUnconverged {
		return exitStatus(exitUnfinished)
	}
	return nil
}

// unfinished says that a fit has not finished, and what to do.
func unfinished(r *latent.Result) string {
	if r.Interrupted {
		return fmt.Sprintf("interrupted after %s: this is the best so far, not finished", counted(int64(r.Iterations), "iteration"))
	}
	return fmt.Sprintf("not finished after %s; raise --max-iter", counted(int64(r.Iterations), "iteration"))
}

// describe adds what reading found out to the result and to its model.
func describe(r *latent.Result, info *data.Info) {
	r.Data, r.Dropped = info.Name, info.Dropped
	r.Warnings = append(append([]string{}, info.Warnings...), r.Warnings...)
	p := r.Fitted.Provenance
	p.Data, p.Dropped, p.Warnings = info.Name, info.Dropped, r.Warnings
}

// fileError puts the name of the data before an error of the fit, unless it is there or the error is about a flag.
func fileError(path string, err error) error {
	if strings.HasPrefix(err.Error(), path) || strings.HasPrefix(err.Error(), "-") {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// start reads what --init names: a model, a file of centres or a column of labels.
func (f *fitFlags) start(ctx context.Context, spec *latent.Spec, path string, o data.Options) error {
	kind, name, given := strings.Cut(f.spec.init, ":")
	switch kind {
	case "labels", "model", "centers":
		if name == "" {
			return usagef("--init %s needs a name: labels:COLUMN, model:FILE or centers:FILE", kind)
		}
	default:
		if given {
			return usagef("--init %q is not known; choose one of auto, k-means++, random, kmeans, labels:COLUMN, model:FILE, centers:FILE", f.spec.init)
		}
		return nil
	}
	spec.Init = kind
	var err error
	switch kind {
	case "model":
		spec.Given, err = latent.Load(name)
	case "centers":
		return f.centers(ctx, spec, name, path, o)
	case "labels":
		return f.labels(ctx, spec, name, path, o)
	}
	return err
}

// centers reads the file of starting centres: columns by name where it has a header, by position where not.
func (f *fitFlags) centers(ctx context.Context, spec *latent.Spec, name, path string, o data.Options) error {
	co := data.Options{Delimiter: o.Delimiter, Decimal: o.Decimal, Threads: o.Threads}
	src, info, err := data.Load(ctx, name, co)
	if err != nil {
		return err
	}
	t := src.(*data.Table)
	if info.Header && path != "-" { // the order of the data's columns
		head := o
		head.Limit, head.Sample, head.Stream = 0, 0, false
		_, features, err := data.Load(ctx, path, head)
		if err != nil {
			return err
		}
		co.Exact = features.Features
		if src, _, err = data.Load(ctx, name, co); err != nil {
			return err
		}
		t = src.(*data.Table)
	}
	for i := range t.N {
		row := make([]float64, t.D)
		for j := range row {
			row[j] = t.At(i, j)
		}
		spec.Centers = append(spec.Centers, row)
	}
	return nil
}

// labels reads the column that --init labels: names, through the same choice of rows.
func (f *fitFlags) labels(ctx context.Context, spec *latent.Spec, name, path string, o data.Options) error {
	if path == "-" {
		return usagef("--init labels:%s needs the data to be read twice, which standard input cannot; use a file", name)
	}
	o.Truth = name
	src, _, err := data.Load(ctx, path, o)
	if err != nil {
		return err
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	reader, err := src.Open(ctx)
	if err != nil {
		return err
	}
	defer reader.Close()
	var words []string
	var b data.Block
	for {
		err := reader.Read(&b, 4096)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		words = append(words, b.Truth...)
	}
	names := slices.Compact(slices.Sorted(slices.Values(words)))
	if len(names) != spec.K {
		return fmt.Errorf("%s: column %q has %d different labels, but -k is %d", path, name, len(names), spec.K)
	}
	spec.Labels = make([]int32, len(words))
	for i, w := range words {
		at, _ := slices.BinarySearch(names, w)
		spec.Labels[i] = int32(at)
	}
	return nil
}
