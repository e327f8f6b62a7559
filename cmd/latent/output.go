package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// outputFlags say what is written and said.
type outputFlags struct {
	model, labels, trace, dir string
	report                    string
	probabilities             bool
	allowUnconverged, json    bool
	quiet, verbose            bool
	noColor, noProgress       bool
	require                   []string
}

func (o *outputFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.model, "output", "o", "", "write the model to this file (JSON)")
	f.StringVar(&o.labels, "labels", "", "write a label for every row to this file (.csv, .parquet or .npy)")
	f.BoolVar(&o.probabilities, "probabilities", false, "add the probability of every group to the labels")
	f.StringVar(&o.trace, "trace", "", "write every E-step and M-step of every start to this file (CSV)")
	f.StringVar(&o.report, "report", "", "write a page with pictures of the result to this file (HTML)")
	f.StringVar(&o.dir, "out", "", "write model.json, labels.csv, trace.csv, report.html and spec.json to this folder, all or none")
	f.BoolVar(&o.allowUnconverged, "allow-unconverged", false, "exit with 0 instead of 3 when not finished")
	f.StringArrayVar(&o.require, "require", nil, "exit with 4 unless the result meets this, such as ari>0.8 or distance_se<0.1")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but errors")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print more: every start, every warning, where the time went")
	f.BoolVar(&o.noColor, "no-color", false, "no colours (NO_COLOR is honoured too)")
	f.BoolVar(&o.noProgress, "no-progress", false, "no progress line")
}

// output is a file to write and what goes into it.
type output struct{ path, what string }

// outputs lists the files that were asked for.
func (o *outputFlags) outputs() []output {
	list := []output{{o.model, "model"}, {o.labels, "labels"}, {o.trace, "trace"}, {o.report, "report"}}
	if o.dir != "" {
		list = append(list, output{filepath.Join(o.dir, "model.json"), "model"}, output{filepath.Join(o.dir, "labels.csv"), "labels"},
			output{filepath.Join(o.dir, "trace.csv"), "trace"}, output{filepath.Join(o.dir, "report.html"), "report"}, output{filepath.Join(o.dir, "spec.json"), "spec"})
	}
	return slices.DeleteFunc(list, func(out output) bool { return out.path == "" })
}

// validate refuses what cannot be written, before anything is fitted: outputs that are the input or each other, names
// of formats that are not known, and flags that would have no effect.
func (o *outputFlags) validate(inputs []string) error {
	if o.probabilities && o.labels == "" && o.dir == "" {
		return usagef("--probabilities adds to the labels: give --labels or --out too")
	}
	var paths []string
	for _, out := range o.outputs() {
		paths = append(paths, out.path)
	}
	if err := distinctFiles(inputs, paths...); err != nil {
		return err
	}
	if err := reachable(o.model, o.labels, o.trace, o.report); err != nil {
		return err
	}
	if o.labels != "" {
		if _, err := data.FormatOf(o.labels); err != nil {
			return usageError{err}
		}
	}
	for _, s := range o.require {
		if _, err := parseDemand(s); err != nil {
			return err
		}
	}
	return nil
}

// end says what of a fit has not finished, never in silence, and returns the exit status. told is what --json prints, which demands are
// about.
func (o *outputFlags) end(cmd *cobra.Command, r *latent.Result, told any) error {
	if !r.Converged {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s\n", unfinished(r))
	}
	cut := unrepeated(r)
	if cut != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s\n", cut)
	}
	if r.Interrupted || cut != "" {
		return exitStatus(exitInterrupted)
	}
	if err := o.demands(cmd, told); err != nil {
		return err
	}
	if !r.Converged && !o.allowUnconverged {
		return exitStatus(exitUnfinished)
	}
	return nil
}

// demands checks what is told against --require.
func (o *outputFlags) demands(cmd *cobra.Command, told any) error {
	for _, s := range o.require {
		d, err := parseDemand(s)
		if err != nil {
			return err
		}
		missed, err := d.missed(told)
		if err != nil {
			return err
		}
		if missed != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "latent: --require %s is not met: %s\n", s, missed)
			return exitStatus(exitMissed)
		}
	}
	return nil
}

// watch sets up what follows the fit while it runs, and what tells it.
func (o *outputFlags) watch(cmd *cobra.Command, spec *latent.Spec) (*watcher, latent.Observer) {
	w := &watcher{}
	if o.trace != "" || o.dir != "" {
		w.trace = map[int]*strings.Builder{}
	}
	w.drawn = o.report != "" || o.dir != ""
	if !o.quiet && !o.noProgress && !o.json {
		w.line = newProgressLine(cmd.ErrOrStderr())
	}
	see := latent.Observer{Candidate: w.tried, Replicate: w.repeated}
	if w.trace != nil || w.line != nil && !spec.Chooses() || w.drawn {
		see.Step = w.step
	}
	return w, see
}

// write writes the files that were asked for: all of them or, on an error, none.
func (o *outputFlags) write(cmd *cobra.Command, src data.Source, id string, r *latent.Result, w *watcher, about reported) error {
	// Ctrl-C ended the climb, not the writing of what it reached.
	ctx := context.WithoutCancel(cmd.Context())
	return writeAll(o.dir, o.outputs(), func(out output, to io.Writer) error {
		switch out.what {
		case "model":
			_, err := r.Model.WriteTo(to)
			return err
		case "labels":
			format, err := data.FormatOf(out.path)
			if err != nil {
				return err
			}
			return writeLabels(ctx, to, format, r.Model, src, r.Threads, labelExtras{probabilities: o.probabilities, decode: model.Viterbi}, leading{id: id}, nil)
		case "trace":
			return w.writeTrace(to)
		case "report":
			about.steps = w.steps
			return writeReport(ctx, to, src, r, about)
		}
		return printJSON(to, asked(cmd))
	})
}

// distinctFiles refuses an output that is one of the inputs, or another output, or standard output.
func distinctFiles(inputs []string, outputs ...string) error {
	seen := map[string]bool{}
	for _, path := range outputs {
		if path == os.DevNull {
			continue // what goes there harms nobody
		}
		full, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if to, err := filepath.EvalSymlinks(full); err == nil {
			full = to
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
			full = filepath.Join(dir, filepath.Base(full))
		}
		for _, input := range inputs {
			if err := overwrites(input, path, full); err != nil {
				return err
			}
		}
		switch {
		case path == "-":
			return usagef("- is not a file to write to; give a name")
		case seen[full]:
			return usagef("%s is named for two outputs; give each its own", path)
		}
		seen[full] = true
	}
	return nil
}

// overwrites refuses an output that is one of the files of an input, or that would be one of them the next time.
func overwrites(input, path, full string) error {
	files, err := data.Parts(input)
	if err != nil {
		return nil // its reader will say what is wrong with it
	}
	out, lost := os.Stat(path)
	for _, file := range files {
		in, err := os.Stat(file)
		if err == nil && lost == nil && os.SameFile(in, out) {
			return usagef("%s is read by this command: writing to it would destroy it; give another name", path)
		}
	}
	match := func(pattern string) bool {
		pattern, err := filepath.Abs(pattern)
		fits, wrong := filepath.Match(pattern, full)
		return err == nil && wrong == nil && fits
	}
	info, err := os.Stat(input)
	if folder := err == nil && info.IsDir(); folder && filepath.Dir(full) == resolved(input) || err != nil && match(input) {
		return usagef("%s would be read as a part of %s the next time; write it to another folder", path, input)
	}
	return nil
}

// resolved returns the full path of a folder that is there, without links.
func resolved(folder string) string {
	full, err := filepath.Abs(folder)
	if err != nil {
		return folder
	}
	if to, err := filepath.EvalSymlinks(full); err == nil {
		return to
	}
	return full
}

// asked returns the flags that were given and decide the result, so that --config of them repeats the fit.
func asked(cmd *cobra.Command) map[string]any {
	flags := map[string]any{}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "output", "labels", "trace", "report", "out", "json", "quiet", "verbose", "no-color", "no-progress", "plot", "range", "config", "threads", "max-memory":
			return
		}
		name := strings.ReplaceAll(f.Name, "-", "_")
		switch list, many := f.Value.(pflag.SliceValue); {
		case many:
			values := []any{}
			for _, word := range list.GetSlice() {
				values = append(values, literal(word))
			}
			flags[name] = values
		default:
			flags[name] = literal(f.Value.String())
		}
	})
	return flags
}

// literal returns a flag's word as JSON has it: numbers, true and false as they stand, others as text.
func literal(word string) any {
	if json.Valid([]byte(word)) {
		return json.RawMessage(word)
	}
	return word
}

// reachable refuses, before anything is computed, outputs that are folders or whose folder is not there.
func reachable(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s: this is a folder; give the name of a file", path)
		}
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: the folder %s does not exist; make it first", path, filepath.Dir(path))
		}
	}
	return nil
}

// writeAll makes the folder, if one is named, fills every output beside its name and renames them when all are whole.
func writeAll(folder string, outputs []output, fill func(output, io.Writer) error) error {
	var files data.Files
	defer files.Abort() // does nothing after Commit
	if folder != "" {
		if err := files.Folder(folder); err != nil {
			return err
		}
	}
	for _, out := range outputs {
		f, err := files.Create(out.path)
		if err != nil {
			return err
		}
		if err := fill(out, f); err != nil {
			return err
		}
	}
	return files.Commit()
}

// tell prints the summary.
func (o *outputFlags) tell(cmd *cobra.Command, r *latent.Result, info *data.Info) error {
	if o.json {
		return printJSON(cmd.OutOrStdout(), r)
	}
	if o.quiet {
		return nil
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	summarise(out, r, info, o.verbose)
	return out.Flush()
}

func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// writeLabels writes a label for every row of src after its leading cells: label, of a merged model the likeliest component, probability and uncertainty,
// with all the probability of every label, and what odd adds.
func writeLabels(ctx context.Context, w io.Writer, format string, m *model.Model, src data.Source, threads int, more labelExtras, lead leading, odd *oddRows) error {
	factors, q, err := more.expect(m)
	if err != nil {
		return err
	}
	out, err := data.Create(w, format, labelColumns(m, more, lead, odd))
	if err != nil {
		return err
	}
	if !m.HasDensity() && m.Clusters == nil && !more.probabilities && odd == nil {
		return writeNearest(ctx, out, m, src, threads, lead)
	}
	var wide, scores []float64
	err = rowsOfFile(ctx, m, src, more.decode, threads, func(s *model.Scored) error {
		if factors != nil {
			scores = slices.Grow(scores[:0], s.N*q)[:s.N*q]
			factors(scores, s)
		}
		for i, c := range s.Label {
			lead.put(out, s.Block, i)
			p := s.Responsibilities[i*s.K : i*s.K+s.K]
			if s.Noise != nil { // the first, whose label is 0
				wide = append(append(wide[:0], s.Noise[i]), p...)
				p, c = wide, c+1
			}
			out.Int(int64(s.Label[i]) + 1)
			if m.Clusters != nil {
				out.Int(int64(s.Component[i]) + 1)
			}
			out.Float(p[c])
			out.Float(uncertainty(p, int(c)))
			if more.probabilities {
				out.Floats(p)
			}
			if factors != nil {
				out.Floats(scores[i*q : i*q+q])
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

// writeNearest is writeLabels where labels are certain: nothing else need be known of a row.
func writeNearest(ctx context.Context, out *data.Out, m *model.Model, src data.Source, threads int, lead leading) error {
	ends := make([]func() error, m.NumLabels())
	for c := range ends {
		ends[c] = out.Ending(lead.width(), func() {
			out.Int(int64(c) + 1)
			out.Float(1)
			out.Float(0)
		})
	}
	err := m.Labels(ctx, src, threads, func(b *data.Block, label []int32) error {
		for i, c := range label {
			lead.put(out, b, i)
			if err := ends[c](); err != nil {
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

// rowsOfFile is Model.Rows in the order of the file. Sequences are decoded in the way how.
func rowsOfFile(ctx context.Context, m *model.Model, src data.Source, how model.Decoding, threads int, each func(*model.Scored) error) error {
	if m.IsChain() {
		return m.DecodeByRow(ctx, src, how, threads, each)
	}
	return m.Rows(ctx, src, threads, each)
}

// labelColumns are the columns that writeLabels writes.
func labelColumns(m *model.Model, more labelExtras, lead leading, odd *oddRows) []data.OutColumn {
	cols := []data.OutColumn{{Name: "label", Kind: data.Int}}
	if m.Clusters != nil {
		cols = append(cols, data.OutColumn{Name: "component", Kind: data.Int})
	}
	cols = append(cols, data.OutColumn{Name: "probability", Kind: data.Float}, data.OutColumn{Name: "uncertainty", Kind: data.Float})
	if more.probabilities {
		if m.Noise != nil {
			cols = append(cols, data.OutColumn{Name: "p0", Kind: data.Float})
		}
		for c := range m.NumLabels() {
			cols = append(cols, data.OutColumn{Name: "p" + strconv.Itoa(c+1), Kind: data.Float})
		}
	}
	if more.factors {
		for f := range m.Shape.Factors() {
			cols = append(cols, data.OutColumn{Name: "f" + strconv.Itoa(f+1), Kind: data.Float})
		}
	}
	return lead.with(append(cols, odd.columns()...)...)
}

// labelExtras are the columns that are written beside labels where they are asked for.
type labelExtras struct {
	probabilities bool           // of every group
	factors       bool           // expected ones, of the row's group
	decode        model.Decoding // how rows of a hidden Markov model get their labels
}

// expect returns what computes the factors of rows, and their number; nil where they are not asked for.
func (e labelExtras) expect(m *model.Model) (func([]float64, *model.Scored), int, error) {
	if !e.factors {
		return nil, 0, nil
	}
	return m.Factors()
}

// uncertainty is 1 - p[c], summed from the other components so that small ones are not lost.
func uncertainty(p []float64, c int) float64 {
	u := 0.0
	for i, v := range p {
		if i != c {
			u += v
		}
	}
	return u
}
