package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	data       dataFlags
	spec       specFlags
	algorithms []string
	json       bool
	trace      string
	plot       string
	noProgress bool
}

func compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:     "compare DATA... -k N",
		Short:   "Run several algorithms from the same starts, side by side",
		Example: "  latent compare customers.csv -k 4 --n-init 20",
		Args:    atLeast(1, "a file, - or @name"),
		RunE:    func(cmd *cobra.Command, args []string) error { f.data.more = args[1:]; return f.run(cmd, args[0]) },
	}
	f.spec.add(cmd)
	f.data.addChoice(cmd)
	c := cmd.Flags()
	c.StringSliceVar(&f.algorithms, "algorithms", latent.Climbers(), "the algorithms to compare")
	c.BoolVar(&f.json, "json", false, "print the table as JSON")
	c.StringVar(&f.trace, "trace", "", "write every E-step and M-step of every algorithm and start to this file (CSV)")
	c.StringVar(&f.plot, "plot", "", "draw how the log-likelihood rises in every algorithm's best start to this file (.svg or .png)")
	c.BoolVar(&f.noProgress, "no-progress", false, "no progress line")
	c.MarkHidden("algorithm")
	c.MarkHidden("concentration") // of vb, whose bound is not compared
	c.Lookup("weights").Usage = "mixing weights: learned or uniform"
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, path string) error {
	var penalties []float64
	in, err := f.spec.open(cmd, path, &f.data, func() (err error) {
		switch {
		case cmd.Flags().Changed("algorithm"):
			return usagef("--algorithm names one algorithm; compare takes several: --algorithms em,em-lbfgs")
		case f.spec.penalty != "":
			penalties, err = f.prices(cmd)
			return err
		}
		if f.plot != "" {
			if err := drawable(f.plot); err != nil {
				return err
			}
		}
		if err := distinctFiles(append(append(f.spec.files(), f.data.more...), path), present(f.trace, f.plot)...); err != nil {
			return err
		}
		return reachable(f.trace, f.plot)
	}, func(*latent.Spec) error { return nil }) // Compare validates it for each algorithm
	if err != nil {
		return err
	}
	defer in.close()
	for _, w := range in.info.Warnings { // the table has no place for them
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s\n", w)
	}
	if penalties != nil {
		return f.path(cmd, path, in, penalties)
	}
	all := &traces{wanted: f.trace != "", drawn: f.plot != ""}
	if !f.noProgress {
		all.line = newProgressLine(cmd.ErrOrStderr())
	}
	if !cmd.Flags().Changed("algorithms") {
		f.algorithms = slices.DeleteFunc(f.algorithms, func(a string) bool { return in.spec.Model == model.ChainKind && !climbs(in.spec, a) })
	}
	see := latent.Observer{Algorithm: all.next}
	if all.wanted || all.drawn || all.line != nil {
		see.Step = func(p latent.Progress) { all.watcher.step(p) }
	}
	table, err := latent.Compare(cmd.Context(), in.src, in.spec, f.algorithms, see)
	all.finish()
	if wrong := (*latent.SpecError)(nil); errors.As(err, &wrong) {
		return usageError{err}
	}
	cut := errors.Is(err, context.Canceled) && len(table) > 0 // what has finished is shown
	if err != nil && !cut {
		return f.data.error(cmd.Context(), path, err)
	}
	if err := in.info.Changed(); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s%s\n", err, outdated)
	}
	if err := f.write(all); err != nil {
		return err
	}
	if f.json {
		err = printJSON(cmd.OutOrStdout(), table)
	} else {
		err = compareTable(cmd.OutOrStdout(), table)
	}
	if k := kindOf(&in.spec); err == nil && !f.json && in.info.Types != nil && k != kind.Gaussian { // what the columns have decided
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "(chosen from what the columns hold: %s)\n", decided(k, in.spec.Model == model.ChainKind, in.info))
	}
	if err != nil {
		return err
	}
	if cut {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: interrupted: %d of %d algorithms had finished\n", len(table), len(f.algorithms))
		return exitStatus(exitInterrupted)
	}
	for _, c := range table {
		if c.Converged < c.Starts {
			return exitStatus(exitUnfinished)
		}
	}
	return nil
}

// climbs reports whether an algorithm goes with a spec.
func climbs(spec latent.Spec, algorithm string) bool {
	spec.Algorithm = algorithm
	return spec.Validate() == nil
}

// write writes the files that were asked for: all or none.
func (f *compareFlags) write(all *traces) error {
	var outputs []output
	for _, path := range present(f.trace, f.plot) {
		outputs = append(outputs, output{path: path})
	}
	return writeAll("", outputs, func(out output, w io.Writer) error {
		if out.path == f.plot {
			return all.draw(w, f.plot)
		}
		return all.write(w)
	})
}

// numbers reads a list of numbers separated by commas.
func numbers(list string) (v []float64, err error) {
	for word := range strings.SplitSeq(list, ",") {
		x, err := parseFloat(word)
		if err != nil {
			return nil, err
		}
		v = append(v, x)
	}
	return v, nil
}

// prices returns the penalties to compare.
func (f *compareFlags) prices(cmd *cobra.Command) ([]float64, error) {
	if f.trace != "" || f.plot != "" || cmd.Flags().Changed("algorithms") || cmd.Flags().Changed("k") {
		return nil, usagef("--penalty compares prices of a cluster: -k, --algorithms, --trace and --plot have no effect with it")
	}
	penalties, err := numbers(f.spec.penalty)
	if err != nil {
		return nil, usagef("--penalty %q is not a list of numbers", f.spec.penalty)
	}
	f.spec.penalty = strconv.FormatFloat(penalties[0], 'g', -1, 64) // one for the spec; the path goes through all
	return penalties, nil
}

// path prints what DP-means finds at each penalty.
func (f *compareFlags) path(cmd *cobra.Command, path string, in *input, penalties []float64) error {
	points, err := latent.PenaltyPath(cmd.Context(), in.src, in.spec, penalties)
	if wrong := (*latent.SpecError)(nil); errors.As(err, &wrong) {
		return usageError{err}
	}
	if err != nil {
		return f.data.error(cmd.Context(), path, err)
	}
	if err := f.tellPath(cmd, points); err != nil {
		return err
	}
	for _, p := range points {
		if !p.Converged {
			return exitStatus(exitUnfinished)
		}
	}
	return nil
}

func (f *compareFlags) tellPath(cmd *cobra.Command, points []latent.PenaltyPoint) error {
	if f.json {
		return printJSON(cmd.OutOrStdout(), points)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "penalty\tk\tinertia\tobjective\tfinished\t")
	var columns [3][]string
	for i, value := range []func(*latent.PenaltyPoint) float64{
		func(p *latent.PenaltyPoint) float64 { return p.Penalty }, func(p *latent.PenaltyPoint) float64 { return p.Inertia }, func(p *latent.PenaltyPoint) float64 { return p.Objective },
	} {
		var values []float64
		for j := range points {
			values = append(values, value(&points[j]))
		}
		columns[i] = text.Numbers(values, 0)
	}
	for i, p := range points {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t\n", columns[0][i], p.K, columns[1][i], columns[2][i], map[bool]string{true: "yes", false: "no"}[p.Converged])
	}
	return w.Flush()
}

// compareTable prints one line an algorithm.
func compareTable(out io.Writer, table []latent.Comparison) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "algorithm\tfinished\tsweeps\tmin\tmax\tseconds\tlog-likelihood\tmedian\tmin\treached best\tabove EM\tbelow EM\tsmallest weight\t")
	var open []string
	for _, c := range table {
		if c.Undetermined {
			open = append(open, c.Algorithm)
		}
		above, below := "-", "-"
		if c.Better != nil {
			above, below = strconv.Itoa(*c.Better), strconv.Itoa(*c.Worse)
		}
		fmt.Fprintf(w, "%s\t%d of %d\t%s\t%s\t%s\t%.3f\t%s\t%s\t%s\t%d of %d\t%s\t%s\t%s\t\n", c.Algorithm, c.Converged, c.Starts, text.Significant(c.Sweeps.Median, 0), text.Thousands(int64(c.Sweeps.Min)), text.Thousands(int64(c.Sweeps.Max)), c.Seconds,
			text.Decimals(c.LogLik.Best, 4), text.Decimals(c.LogLik.Median, 4), text.Decimals(c.LogLik.Min, 4), c.ReachedBest, c.Starts, above, below, text.Share(c.Smallest, 4))
	}
	if err := w.Flush(); err != nil || open == nil {
		return err
	}
	_, err := fmt.Fprintf(out, "(these rows do not determine all parameters: the log-likelihood is flat in some direction at the best result of %s)\n", strings.Join(open, ", "))
	return err
}

// traces keeps the trace of one algorithm after another.
type traces struct {
	watcher *watcher
	line    *progressLine
	wanted  bool
	drawn   bool // steps are kept for a picture
	name    []string
	each    []*watcher
}

// next begins the trace of an algorithm.
func (t *traces) next(algorithm string) {
	t.watcher = &watcher{line: t.line, drawn: t.drawn}
	if t.wanted {
		t.watcher.trace = map[int]*strings.Builder{}
	}
	if t.line != nil {
		t.line.begin(algorithm + ": ")
	}
	t.name, t.each = append(t.name, algorithm), append(t.each, t.watcher)
}

func (t *traces) finish() {
	if t.line != nil {
		t.line.clear()
	}
}

// write writes the traces under one header, the algorithm before each line.
func (t *traces) write(w io.Writer) error {
	if _, err := io.WriteString(w, "algorithm,"+traceHeader); err != nil {
		return err
	}
	for i, each := range t.each {
		if err := each.writeLines(w, t.name[i]+","); err != nil {
			return err
		}
	}
	return nil
}
