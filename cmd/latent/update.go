package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
)

// updateFlags are those of update.
type updateFlags struct {
	applyFlags
	forget float64
	json   bool
	quiet  bool
}

func updateCommand() *cobra.Command {
	var f updateFlags
	cmd := &cobra.Command{
		Use: "update MODEL NEW -o MODEL2", Short: "Go on with a fit by rows that came later, without the old ones", Example: "  latent update model.json march.csv -o model.json",
		Args: exactly(2, "a model and a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	f.data.add(cmd)
	c := cmd.Flags()
	c.StringVarP(&f.output, "output", "o", "", "write the updated model to this file (JSON); it may be MODEL")
	c.Float64Var(&f.forget, "forget", 1, "what the old rows count, above 0 and at most 1")
	c.BoolVar(&f.json, "json", false, "print the summary as JSON")
	c.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	unseenFlag(cmd, &f.unseen)
	threadsFlag(cmd, &f.threads)
	return cmd
}

func (f *updateFlags) run(cmd *cobra.Command, modelFile, path string) (err error) {
	if f.threads, err = checkThreads(cmd, f.threads); err != nil {
		return err
	}
	m, src, _, err := f.read(cmd, modelFile, path)
	if err != nil {
		return err
	}
	u, err := latent.Update(cmd.Context(), src, m, f.forget, f.threads)
	if err != nil {
		return f.data.error(cmd.Context(), path, err)
	}
	if err := writeAll("", []output{{f.output, "model"}}, func(_ output, w io.Writer) error {
		_, err := u.Model.WriteTo(w)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), u.Passes)
	return nil
}
