// Command states goes from a table to a forecast: it fits a hidden Markov model to the daily sales of two shops, tells how their states follow
// each other, labels the last day by what was known then, and looks ahead. With the command:
// latent fit daily.csv -k 2 --model hmm --sequence shop --time day -o daily.json && latent forecast daily.json daily.csv --steps 3.
//
//	go run ./examples/states
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

//go:embed daily.csv
var daily []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	ctx := context.Background()
	src, info, err := data.Load(ctx, "-", data.Options{Stdin: bytes.NewReader(daily), Sequence: "shop", Time: "day"})
	if err != nil {
		return err
	}
	r, err := latent.Fit(ctx, src, latent.Spec{Model: model.ChainKind, K: 2, Columns: info.Features})
	if err != nil {
		return err
	}
	for _, state := range r.Components {
		fmt.Fprintf(w, "state %d: %.0f sold a day, %.1f days at a time\n", state.Label, state.Mean[0], *state.Stay)
	}
	err = r.Model.Decode(ctx, src, model.Filter, 0, func(s *model.Scored) error {
		for i, label := range s.Label {
			if end := i+1 == s.N || s.Sequence[i+1] != s.Sequence[i]; end { // the table is small: all rows come at once
				p, _ := s.Sure(i)
				fmt.Fprintf(w, "%s ends in state %d (probability %.3f)\n", info.Sequences[s.Sequence[i]], label+1, p)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Model.Forecast(ctx, src, 3, 0, func(f *model.Forecast) error {
		_, err := fmt.Fprintf(w, "%s, %d days ahead: %.0f, give or take %.0f\n", info.Sequences[f.Sequence], f.Step, f.Variables[0].Mean, f.Variables[0].SD)
		return err
	})
}
