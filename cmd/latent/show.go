package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/model"
)

func showCommand() *cobra.Command {
	var asJSON, verbose, draw, noColour bool
	cmd := &cobra.Command{
		Use: "show MODEL", Short: "The model in words and numbers", Example: "  latent show model.json --plot",
		Args: exactly(1, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && draw {
				return usagef("--json prints numbers only: --plot has no effect with it")
			}
			m, err := model.Load(args[0])
			if err != nil {
				return err
			}
			r := latent.Told(m)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			summarise(out, r, nil, verbose)
			if draw {
				fmt.Fprintln(out)
				drawModel(out, r, pageOf(cmd.OutOrStdout(), noColour))
			}
			return out.Flush()
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print it as JSON, with the keys of fit")
	f.BoolVarP(&verbose, "verbose", "v", false, "print every start too")
	f.BoolVar(&draw, "plot", false, "draw the groups on the two columns that tell them apart best")
	f.BoolVar(&noColour, "no-color", false, "no colours in the drawing (NO_COLOR is honoured too)")
	return cmd
}
