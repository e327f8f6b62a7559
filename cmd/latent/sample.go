package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

func sampleCommand() *cobra.Command {
	var n, sequences int64
	var seed uint64
	var labels bool
	var a applyFlags
	cmd := &cobra.Command{
		Use: "sample MODEL -n N", Short: "Draw rows from a model", Example: "  latent sample model.json -n 1000 -o rows.csv",
		Args: exactly(1, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n < 1 {
				return usagef("-n is needed: how many rows to draw, at least 1")
			}
			if err := a.validate(args[0]); err != nil {
				return err
			}
			m, err := model.Load(args[0])
			if err != nil {
				return err
			}
			switch given := cmd.Flags().Changed("sequences"); {
			case given && !m.IsChain():
				return usagef("--sequences is for a hidden Markov model (--model hmm), and this is a %s model; leave it out", m.Kind)
			case sequences < 1:
				return usagef("--sequences is %d; it must be at least 1", sequences)
			case m.IsChain() && n > math.MaxInt64/sequences:
				return usagef("%d sequences of %d rows are too many", sequences, n)
			}
			s, err := m.Sampler(seed)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return a.emit(cmd, func(w io.Writer, format string) error {
				return draw(cmd.Context(), w, format, m, s, n, sequences, labels)
			})
		},
	}
	f := cmd.Flags()
	f.Int64VarP(&n, "rows", "n", 0, "how many rows to draw; hmm: of each sequence")
	f.Int64Var(&sequences, "sequences", 1, "hmm: how many sequences to draw")
	f.Uint64Var(&seed, "seed", 1, "seed of the random numbers")
	f.BoolVar(&labels, "with-labels", false, "add the group of every row")
	f.StringVarP(&a.output, "output", "o", "", "write to this file (.csv, .parquet or .npy) instead of standard output")
	return cmd
}

// draw writes n rows of s, and their groups; of a hidden Markov model so many sequences of n rows, with their numbers and those of their rows.
func draw(ctx context.Context, w io.Writer, format string, m *model.Model, s *model.Sampler, n, sequences int64, labels bool) error {
	var cols []data.OutColumn
	if m.IsChain() {
		cols = append(cols, data.OutColumn{Name: fresh(cmp.Or(m.Sequence, "sequence"), m.Columns), Kind: data.Int}, data.OutColumn{Name: fresh(cmp.Or(m.Time, "time"), m.Columns), Kind: data.Int})
	}
	dates := make([]bool, m.D())
	for j, name := range m.Columns {
		kind := data.Float
		_, dates[j] = m.Date(name)
		if named(m, j) || dates[j] {
			kind = data.Text
		}
		cols = append(cols, data.OutColumn{Name: name, Kind: kind})
	}
	if labels {
		cols = append(cols, data.OutColumn{Name: fresh("label", m.Columns), Kind: data.Int})
		if m.Clusters != nil {
			cols = append(cols, data.OutColumn{Name: fresh("component", m.Columns), Kind: data.Int})
		}
	}
	out, err := data.Create(w, format, cols)
	if err != nil {
		return err
	}
	x := make([]float64, m.D())
	for i := range n * sequences {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i%n == 0 {
			s.Restart()
		}
		if m.IsChain() {
			out.Int(i/n + 1)
			out.Int(i%n + 1)
		}
		c := s.Draw(x)
		for j, v := range x {
			switch {
			case named(m, j):
				out.Text(m.Levels[j][int(v)])
			case dates[j]:
				out.Text(data.FormatDate(v))
			default:
				out.Float(v)
			}
		}
		if labels {
			out.Int(int64(m.LabelOf(c)) + 1)
			if m.Clusters != nil {
				out.Int(int64(c) + 1)
			}
		}
		if err := out.End(); err != nil {
			return err
		}
	}
	return out.Close()
}

// named reports whether the cells of column j are names of levels.
func named(m *model.Model, j int) bool { return j < len(m.Levels) && m.Levels[j] != nil }
