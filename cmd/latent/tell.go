package main

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/text"
)

func checkCommand() *cobra.Command {
	var d dataFlags
	var asJSON bool
	var threads int
	cmd := &cobra.Command{
		Use: "check DATA", Short: "What would be read; nothing is fitted", Example: "  latent check customers.csv",
		Args: exactly(1, "a file, - or @name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			threads, err := checkThreads(cmd, threads)
			if err != nil {
				return err
			}
			o, err := d.options(cmd, threads)
			if err != nil {
				return err
			}
			r := &replay{from: o.Stdin, most: cmp.Or(o.MaxMemory, data.DefaultMaxMemory()) / 2}
			if args[0] == "-" && o.Stdin != nil {
				o.Stdin = r
			}
			p, err := data.Profile(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			again := r.again(args[0], &o)
			warnOfColumns(cmd.Context(), p, args[0], o, again)
			if p.Err == nil {
				p.Err = outOfRange(p)
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), p)
			} else {
				err = tellProfile(cmd, p)
			}
			if err == nil {
				err = p.Err // what fit would say
			}
			return err
		},
	}
	d.addChoice(cmd)
	cmd.Flags().Uint64Var(&d.Seed, "seed", 1, "seed of --sample, as for fit")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	threadsFlag(cmd, &threads)
	return cmd
}

// outOfRange returns what fit would say of numbers near the ends of float64: of the features of a Gaussian mixture, its default
// model, and of the row weights.
func outOfRange(p *data.Report) error {
	for _, c := range p.Columns {
		var err error
		switch {
		case c.Numbers == 0:
		case c.Use == "feature":
			err = prepare.OutOfRange(c.Name, c.SD)
		case c.Use == "weight":
			err = prepare.WeightsOutOfRange(c.Mean * float64(c.Numbers))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

func datasetsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "datasets", Short: "The built-in sets; `latent fit @iris -k 3` uses one", Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, s := range data.Datasets() {
				truth := s.Truth
				if truth == "" {
					truth = "-"
				}
				fmt.Fprintf(w, "@%s\t%d x %d\ttruth: %s\t%s\n", s.Name, s.Rows, s.Columns, truth, s.About)
			}
			return w.Flush()
		},
	}
}

func tellProfile(cmd *cobra.Command, p *data.Report) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	fmt.Fprintf(out, "%s: %s, %s", p.Name, p.Format, text.Count(max(p.FileRows, p.Rows+p.Dropped), "row"))
	if p.Delimiter != "" {
		fmt.Fprintf(out, "; delimiter %q, decimal %q, %s", p.Delimiter, p.Decimal, map[bool]string{true: "a header", false: "no header"}[p.Header])
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\tkind\tuse\tmissing\tdistinct\tmin\tmax\tmean\tsd")
	for i, c := range p.Columns {
		use := c.Use
		if c.Why != "" {
			use += " (" + c.Why + ")"
		}
		numbers := "-\t-\t-\t-"
		if c.Numbers > 0 && c.Kind != "text" {
			column := text.NewColumn(spreads*c.SD, c.Min, c.Max)
			numbers = strings.Join(append(column.Texts([]float64{c.Min, c.Max}), column.Text(c.Mean), text.Short(c.SD)), "\t")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", c.Name, c.Kind, use, c.Missing, p.Distinct[i], numbers)
	}
	w.Flush()
	fmt.Fprintf(out, "%s with a missing value, %s", text.Count(p.IncompleteRows, "row"), text.Count(p.DuplicateRows, "duplicate row"))
	if n := len(p.Features); n > 0 {
		fmt.Fprintf(out, " (by the %s that would be fitted)", text.Count(int64(n), "column"))
	}
	fmt.Fprintln(out)
	for _, s := range p.Warnings {
		fmt.Fprintf(out, "warning: %s\n", s)
	}
	return out.Flush()
}
