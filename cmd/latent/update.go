package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/internal/updating"
	"github.com/latent-go/latent/model"
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
		Long: "Writes the model as it is after new rows, which came later than those that it was fitted to. The old rows are not needed:\n" +
			"their sums are in the model, where it was fitted with --keep-sums. It says whether the new rows are like the old ones.",
		Args: exactly(2, "a model and a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	f.data.add(cmd)
	c := cmd.Flags()
	c.MarkHidden("id") // refused below
	c.StringVarP(&f.output, "output", "o", "", "write the updated model to this file (JSON); it may be MODEL itself")
	c.Float64Var(&f.forget, "forget", 1, "what the old rows count for, above 0 and at most 1")
	c.StringVar(&f.data.Weight, "weight-column", "", "column of row weights; a weight of 2 is the row twice")
	c.BoolVar(&f.data.Stream, "stream", false, "read the file again in every pass instead of holding its rows in memory")
	c.BoolVar(&f.json, "json", false, "print the summary as JSON")
	c.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors and warnings")
	unseenFlag(cmd, &f.unseen)
	threadsFlag(cmd, &f.threads)
	return cmd
}

// check refuses flags that make no sense, before anything is read.
func (f *updateFlags) check(cmd *cobra.Command, path string) (err error) {
	switch {
	case f.output == "":
		return usagef("update needs a file for the updated model, such as: latent update model.json march.csv -o model.json")
	case cmd.Flags().Changed("id"):
		return usagef("--id has no effect on update, which names no rows")
	case !(f.forget > 0 && f.forget <= 1):
		return usagef("--forget is %v; it must be above 0 and at most 1", f.forget)
	}
	if f.threads, err = checkThreads(cmd, f.threads); err != nil {
		return err
	}
	if err := distinctFiles([]string{path}, f.output); err != nil { // the model may be written anew
		return err
	}
	return reachable(f.output)
}

// run updates a model.
func (f *updateFlags) run(cmd *cobra.Command, modelFile, path string) error {
	if err := f.check(cmd, path); err != nil {
		return err
	}
	if m, err := model.Load(modelFile); err != nil {
		return err
	} else if err := updating.Refuse(m); err != nil {
		return fmt.Errorf("%s: %w", modelFile, err)
	} else if m.Sums == nil {
		return usagef("%s: the model holds no sums of its rows; fit it with --keep-sums", modelFile)
	}
	m, src, _, err := f.read(cmd, modelFile, path)
	if err != nil {
		return err
	}
	if closer, ok := src.(io.Closer); ok {
		defer closer.Close()
	}
	u, err := latent.Update(cmd.Context(), src, m, latent.UpdateSpec{Forget: f.forget, Threads: f.threads})
	if err != nil {
		return f.data.error(cmd.Context(), path, err)
	}
	err = writeAll("", []output{{f.output, "model"}}, func(_ output, w io.Writer) error {
		_, err := u.Model.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.tell(cmd, u); err != nil {
		return err
	}
	for _, w := range u.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s\n", w)
	}
	if !u.Converged {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: not finished after %s over the new rows; the model is the best so far\n", text.Count(u.Passes, "pass"))
		return exitStatus(exitUnfinished)
	}
	return nil
}

// tell prints what came of the update.
func (f *updateFlags) tell(cmd *cobra.Command, u *latent.Updated) error {
	switch {
	case f.json:
		return printJSON(cmd.OutOrStdout(), u)
	case f.quiet:
		return nil
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	w, part := printable{out}, kind.PartNoun(false, u.Model.Clusters != nil)
	fmt.Fprintf(w, "%s updated by %s: %s in all.\n\n", text.Count(u.K, part), weighing(u.Rows, "new row", u.Weight), weighing(u.N, "row", u.TotalWeight))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\tshare before\tshare now\t\n", part)
	for _, c := range u.Components {
		fmt.Fprintf(table, "%d\t%.1f %%\t%.1f %%\t\n", c.Component, 100*c.Before, 100*c.Share)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, explained(&u.Update))
	return out.Flush()
}

// weighing counts rows, with their weight where it is another number.
func weighing(n int64, what string, weight float64) string {
	s := text.Count(n, what)
	if math.Abs(weight-float64(n)) > 1e-6*float64(n) {
		s += " of weight " + text.Short(weight)
	}
	return s
}

// explained says how well the new rows are explained beside the old ones.
func explained(u *model.Update) string {
	e, of := u.LogDensity, "mean log density"
	if e == nil {
		e, of = u.Distance, "mean squared distance"
	}
	return fmt.Sprintf("%s: %s of the old rows, %s of the new ones before the update and %s after it (%+.1f standard errors from what rows like the old would have)",
		of, text.Decimals(e.Old, 4), text.Decimals(e.New, 4), text.Decimals(e.Updated, 4), e.Apart)
}
