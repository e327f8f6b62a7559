package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// mostDraws is how many tables one below the other may be asked for: more than anybody needs, and no slip of the hand.
const mostDraws = 10_000

// imputeFlags are those of impute.
type imputeFlags struct {
	applyFlags
	draws int
	seed  uint64
}

func imputeCommand() *cobra.Command {
	var f imputeFlags
	cmd := &cobra.Command{
		Use: "impute MODEL DATA...", Short: "Fill the gaps of a table", Example: "  latent impute model.json table.csv -o filled.csv",
		Long: "Prints the table with the missing cells of the model's columns filled in: numbers and counts with what is expected of them given\n" +
			"the cells that are there, categories with the likeliest level. All else stays as it is. With --draws M cells are drawn from\n" +
			"their distribution, and M tables come one below the other.",
		Args: atLeast(2, "a model and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.data.more = args[2:]
			return f.run(cmd, args[0], args[1])
		},
	}
	f.data.add(cmd)
	c := cmd.Flags()
	for _, name := range []string{"missing", "allow-fewer", "id"} { // refused below
		c.MarkHidden(name)
	}
	c.StringVarP(&f.output, "output", "o", "", "write to this file (.csv, .parquet or .npy) instead of standard output")
	c.IntVar(&f.draws, "draws", 0, "draw what is missing, for so many tables one below the other, in place of what is expected")
	c.Uint64Var(&f.seed, "seed", 1, "with --draws: seed of the random numbers")
	unseenFlag(cmd, &f.unseen)
	threadsFlag(cmd, &f.threads)
	return cmd
}

// check refuses flags that would have no effect.
func (f *imputeFlags) check(cmd *cobra.Command) error {
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	switch {
	case given("missing") || given("allow-fewer"):
		return usagef("--missing and --allow-fewer have no effect on impute, which fills in what is missing; --na says which texts mean that")
	case given("id"):
		return usagef("--id has no effect on impute, which passes every column through")
	case given("draws") && (f.draws < 1 || f.draws > mostDraws):
		return usagef("--draws is %d; it must be 1 to %s", f.draws, text.Thousands(mostDraws))
	case given("seed") && !given("draws"):
		return usagef("--seed has no effect without --draws: what is expected does not depend on chance")
	}
	return nil
}

// run fills the gaps of a table.
func (f *imputeFlags) run(cmd *cobra.Command, modelFile, path string) (err error) {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.threads, err = checkThreads(cmd, f.threads); err != nil {
		return err
	}
	if err := f.validate(append(f.data.more, modelFile, path)...); err != nil {
		return err
	}
	m, err := model.Load(modelFile)
	if err != nil {
		return err
	}
	filler, err := m.Filler()
	if err != nil {
		return fmt.Errorf("%s: %w", modelFile, err)
	}
	f.data.Missing, f.data.Stream = kind.Model, true
	src, info, err := f.rows(cmd, m, path)
	if err != nil {
		return err
	}
	defer src.(io.Closer).Close()
	var done filled
	err = f.emit(cmd, func(w io.Writer, format string) error {
		done, err = f.write(cmd.Context(), w, format, filler, src, info)
		return f.data.error(cmd.Context(), path, err)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "latent: %s\n", done.tell(info.Rows, f.draws))
	return nil
}

// filled is how much was filled in, in each table.
type filled struct{ cells, rows int64 }

// tell says it, of so many rows and draws.
func (n filled) tell(rows int64, draws int) string {
	said := fmt.Sprintf("%s filled in %s of %s", text.Count(n.cells, "cell"), text.Thousands(n.rows), text.Count(rows, "row"))
	if draws > 0 {
		said += fmt.Sprintf(", in each of %s", text.Count(draws, "draw"))
	}
	return said
}

// write writes the table, or one for each draw.
func (f *imputeFlags) write(ctx context.Context, w io.Writer, format string, filler *model.Filler, src data.Source, info *data.Info) (n filled, err error) {
	lead := ""
	if f.draws > 0 {
		var names []string
		for _, c := range info.Columns {
			names = append(names, c.Name)
		}
		lead = fresh("draw", names)
	}
	to, err := data.NewRewriter(ctx, w, format, src, lead)
	if err != nil {
		return n, err
	}
	defer to.Abort() // does nothing after Close
	var cells []data.NewCell
	each := func(b *model.Filled) error {
		for gaps := b.Gaps; len(gaps) > 0; {
			row := gaps[0].Row
			cells = cells[:0]
			for len(gaps) > 0 && gaps[0].Row == row {
				cells = append(cells, data.NewCell{Column: gaps[0].Column, Value: gaps[0].Value})
				gaps = gaps[1:]
			}
			filled, err := to.Fill(b.Number(row), cells)
			if err != nil {
				return err
			}
			if n.cells += int64(filled); filled > 0 {
				n.rows++
			}
		}
		return nil
	}
	for draw := range max(1, f.draws) {
		n = filled{}
		if err := to.Next(int64(draw) + 1); err != nil {
			return n, err
		}
		if f.draws > 0 {
			err = filler.Draw(ctx, src, f.threads, f.seed, draw, each)
		} else {
			err = filler.Fill(ctx, src, f.threads, each)
		}
		if err != nil {
			return n, err
		}
	}
	return n, to.Close()
}
