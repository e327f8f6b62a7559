package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/profile"
	"github.com/latent-go/latent/model"
)

// profileFlags are those of profile.
type profileFlags struct {
	applyFlags
	stat string
	hard bool
	json bool
}

func profileCommand() *cobra.Command {
	var f profileFlags
	cmd := &cobra.Command{
		Use: "profile MODEL DATA...", Short: "What every column is like in each group", Example: "  latent profile model.json table.csv",
		Long: "Prints the columns of the table against the groups: mean and standard deviation of numbers, shares of levels, means of counts. Columns\n" +
			"that the model was not fitted to are among them. Those that tell the groups apart best come first.",
		Args: atLeast(2, "a model and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.data.more = args[2:]
			return f.run(cmd, args[0], args[1])
		},
	}
	f.data.add(cmd)
	f.data.addSequence(cmd)
	c := cmd.Flags()
	c.StringVarP(&f.output, "output", "o", "", "write the table to this file (.csv or .parquet) instead of standard output")
	c.StringVar(&f.data.Weight, "weight-column", "", "column of row weights; a weight of 2 is the row twice")
	c.StringVar(&f.data.Truth, "truth", "", "column of known groups")
	c.StringVar(&f.stat, "stat", "mean", "what is told of numbers: mean (and standard deviation) or median (and quartiles)")
	c.BoolVar(&f.hard, "hard", false, "count each row for its likeliest group alone, not by responsibility")
	c.BoolVar(&f.json, "json", false, "print all of it as JSON")
	unseenFlag(cmd, &f.unseen)
	threadsFlag(cmd, &f.threads)
	return cmd
}

// run prints the profile of a table.
func (f *profileFlags) run(cmd *cobra.Command, modelFile, path string) error {
	switch {
	case f.stat != "mean" && f.stat != "median":
		return usagef("--stat %q is not known; choose one of mean, median", f.stat)
	case f.json && f.output != "":
		return usagef("--json prints to standard output: -o has no effect with it")
	}
	m, src, info, err := f.loadCells(cmd, modelFile, path)
	if err != nil {
		return err
	}
	defer closeRows(src)
	p, err := profiled(cmd.Context(), m, src, info, f.threads, profile.Options{ByLabel: f.hard, Quartiles: f.stat == "median"})
	switch {
	case err != nil:
		return f.data.error(cmd.Context(), path, err)
	case f.json:
		return printJSON(cmd.OutOrStdout(), p)
	case f.output != "":
		return f.emit(cmd, func(w io.Writer, format string) error { return writeProfile(w, format, p) })
	}
	printProfile(printable{cmd.OutOrStdout()}, p)
	return nil
}

// loadCells reads a model and a table all of whose cells are handed out.
func (a *applyFlags) loadCells(cmd *cobra.Command, modelFile, path string) (m *model.Model, src data.Source, info *data.Info, err error) {
	if a.threads, err = checkThreads(cmd, a.threads); err != nil {
		return nil, nil, nil, err
	}
	if err := a.validate(append(a.data.more, modelFile, path)...); err != nil {
		return nil, nil, nil, err
	}
	a.all = true
	return a.read(cmd, modelFile, path)
}

// profiled makes the profile of a table in one pass.
func profiled(ctx context.Context, m *model.Model, src data.Source, info *data.Info, threads int, by profile.Options) (*profile.Profile, error) {
	b := profile.New(m, info, by)
	if err := m.Rows(ctx, src, threads, b.Add); err != nil {
		return nil, err
	}
	return b.Done(), nil
}
