package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/experiment"
)

// experimentFlags are the flags of experiment.
type experimentFlags struct {
	options    experiment.Options
	dir        string
	quiet      bool
	noProgress bool
}

func experimentCommand() *cobra.Command {
	var f experimentFlags
	cmd := &cobra.Command{
		Use:   "experiment NAME --out DIR",
		Short: "Repeat an experiment of the paper behind anti-annealing; list names them",
		Long: "experiment repeats the comparisons of the paper behind anti-annealing on data made here: EM, anti-annealing, BFGS and ECG from the same random\n" +
			"starts, with em-lbfgs and squarem beside them. It writes a page with pictures, index.html, and the numbers as results.csv and trace.csv.\n\n" +
			"  latent experiment list                               the names\n" +
			"  latent experiment two-gaussians --out DIR            one of them\n" +
			"  latent experiment all --out DIR                      every one, some minutes",
		Example: "  latent experiment two-gaussians --out results",
		Args:    exactly(1, "the name of an experiment, or list"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return experimentNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c := cmd.Flags()
	c.IntVar(&f.options.Runs, "runs", 10, "random starts that every algorithm runs from")
	c.Uint64Var(&f.options.Seed, "seed", 1, "seed of the data that are made and of the starts")
	c.StringVar(&f.dir, "out", "", "write index.html, results.csv and trace.csv to this folder, all or none")
	c.StringVar(&f.options.Data, "data", "", "a folder with MNIST's IDX files, for digits-48; without it the built-in digits are used")
	c.IntVar(&f.options.Threads, "threads", 0, "threads; 0 means all cores; changes nothing but the seconds")
	c.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	c.BoolVar(&f.noProgress, "no-progress", false, "no progress line")
	return cmd
}

func experimentNames() (names []string) {
	for _, e := range experiment.List() {
		names = append(names, e.Name)
	}
	return append(names, "all", "list")
}

func (f *experimentFlags) run(cmd *cobra.Command, name string) error {
	out := cmd.OutOrStdout()
	if name == "list" {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, e := range experiment.List() {
			fmt.Fprintf(w, "%s\t%s\n", e.Name, e.About)
		}
		fmt.Fprintf(w, "all\tevery one of them\n")
		return w.Flush()
	}
	chosen, ok := experiment.Named(name)
	switch {
	case !ok:
		return usagef("there is no experiment %q; choose one of %s", name, strings.Join(experimentNames(), ", "))
	case f.options.Runs < 1:
		return usagef("--runs is %d; it must be at least 1", f.options.Runs)
	case f.options.Runs > latent.MaxStarts:
		return usagef("--runs is %d; it can be at most %d", f.options.Runs, latent.MaxStarts)
	case f.options.Threads < 0:
		return usagef("--threads is %d; it must be at least 1", f.options.Threads)
	case f.options.Threads > latent.MaxThreads:
		return usagef("--threads is %d; it can be at most %d; leave it out for all cores", f.options.Threads, latent.MaxThreads)
	case f.dir == "":
		return usagef("experiment needs a folder to write to: --out DIR")
	case isFile(f.dir): // to be told before minutes of work
		return usagef("%s is a file; --out needs a folder", f.dir)
	case f.options.Data != "" && name != "digits-48" && name != "all":
		return usagef("--data is for digits-48 and all; %s makes its own", name)
	}
	var line *progressLine
	if !f.noProgress && !f.quiet {
		line = newProgressLine(cmd.ErrOrStderr())
	}
	if line != nil {
		f.options.Tell = line.tell
	}
	report, err := experiment.Run(cmd.Context(), chosen, f.options)
	if line != nil {
		line.clear()
	}
	if err != nil {
		return err
	}
	if err := f.write(report); err != nil {
		return err
	}
	if f.quiet {
		return nil
	}
	return f.print(out, report)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// write writes the page and the tables: all of them or, on an error, none.
func (f *experimentFlags) write(report *experiment.Report) error {
	files := []output{
		{filepath.Join(f.dir, "index.html"), "page"}, {filepath.Join(f.dir, "results.csv"), "results"}, {filepath.Join(f.dir, "trace.csv"), "trace"},
	}
	if report.Timed() {
		files = append(files, output{filepath.Join(f.dir, "complexity.csv"), "times"})
	}
	return writeAll(f.dir, files, func(out output, w io.Writer) error {
		switch out.what {
		case "page":
			return report.WritePage(w)
		case "results":
			return report.WriteResults(w)
		case "times":
			return report.WriteTimes(w)
		}
		return report.WriteTrace(w)
	})
}

// print prints the means of every experiment and, as the last line, the finding. Minus signs are those of a keyboard.
func (f *experimentFlags) print(to io.Writer, report *experiment.Report) error {
	var out strings.Builder
	for _, s := range report.Sections {
		if len(report.Sections) > 1 {
			fmt.Fprintf(&out, "%s\n", s.Finding)
		}
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range s.Lines() {
			fmt.Fprintf(w, "%s\t\n", strings.Join(row, "\t"))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(&out, "wrote %s\n%s\n", filepath.Join(f.dir, "index.html"), report.Finding())
	_, err := io.WriteString(to, strings.ReplaceAll(out.String(), "−", "-"))
	return err
}
