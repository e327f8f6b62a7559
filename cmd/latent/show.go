package main

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

func showCommand() *cobra.Command {
	var a applyFlags
	var plot plotFlags
	var asJSON, verbose bool
	var rotate string
	cmd := &cobra.Command{
		Use: "show MODEL [DATA...]", Short: "The model in words and numbers", Example: "  latent show model.json --plot\n  latent show model.json customers.csv --plot",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) >= 2 {
				a.data.more = args[2:]
				return nil
			}
			return exactly(1, "a model")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && plot.draw {
				return usagef("--json prints numbers only: --plot has no effect with it")
			}
			if rotate != "none" && rotate != "varimax" {
				return usagef("--rotate %q is not known; choose one of none, varimax", rotate)
			}
			page, err := plot.page(cmd.OutOrStdout())
			if err != nil {
				return err
			}
			m, rows, err := a.shown(cmd, args, plot.draw)
			if err != nil {
				return err
			}
			if rotate == "varimax" {
				if m, err = m.Varimax(); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
			}
			r := latent.Told(m)
			if see := hooksOf(cmd.Context()).Result; see != nil {
				see(r)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			summarise(out, r, nil, verbose)
			if r.K > 1 && !verbose && rotate == "varimax" { // else the summary has them
				loadings(out, r)
			}
			if err := out.Flush(); err != nil || !plot.draw {
				return err
			}
			if err = drawBelow(cmd.OutOrStdout(), r, page, rows); err != nil && rows != nil {
				return a.data.error(cmd.Context(), args[1], err)
			}
			return err
		},
	}
	a.data.add(cmd)
	a.data.addSequence(cmd)
	plot.add(cmd)
	threadsFlag(cmd, &a.threads)
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print it as JSON, with the keys of fit")
	f.StringVar(&rotate, "rotate", "none", "of a model with factors, turn its loadings for reading: none, or varimax; no density changes")
	f.BoolVarP(&verbose, "verbose", "v", false, "print every start too")
	f.BoolVar(&plot.noColour, "no-color", false, "no colours in the drawing (NO_COLOR is honoured too)")
	return cmd
}

// shown reads the model and, where they are named, the rows to draw.
func (a *applyFlags) shown(cmd *cobra.Command, args []string, draw bool) (*model.Model, *rowSource, error) {
	idle := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "id" || len(args) == 1 && !slices.Contains([]string{"json", "plot", "range", "rotate", "verbose", "no-color"}, f.Name) {
			idle = f.Name
		}
	})
	switch {
	case idle == "id":
		return nil, nil, usagef("--id has no effect: a drawing names no rows")
	case idle != "":
		return nil, nil, usagef("--%s is for reading rows: it has no effect without a file, as in latent show MODEL DATA --plot", idle)
	case len(args) == 1:
		m, err := model.Load(args[0])
		return m, nil, err
	case !draw:
		return nil, nil, usagef("show draws the rows of %s: they have no effect without --plot", text.ShellWord(args[1]))
	}
	var err error
	if a.threads, err = checkThreads(cmd, a.threads); err != nil {
		return nil, nil, err
	}
	m, src, info, err := a.read(cmd, args[0], args[1])
	if err != nil {
		return nil, nil, err
	}
	return m, &rowSource{cmd.Context(), m, src, a.threads, info.Sequences}, nil
}
