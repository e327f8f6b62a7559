package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

func sampleCommand() *cobra.Command {
	var n int64
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
			s, err := m.Sampler(seed)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return a.emit(cmd, func(w io.Writer, format string) error { return draw(cmd.Context(), w, format, m, s, n, labels) })
		},
	}
	f := cmd.Flags()
	f.Int64VarP(&n, "rows", "n", 0, "how many rows to draw")
	f.Uint64Var(&seed, "seed", 1, "seed of the random numbers")
	f.BoolVar(&labels, "with-labels", false, "add the group of every row")
	f.StringVarP(&a.output, "output", "o", "", "write to this file (.csv, .parquet or .npy) instead of standard output")
	return cmd
}

// draw writes n rows of s, and their groups.
func draw(ctx context.Context, w io.Writer, format string, m *model.Model, s *model.Sampler, n int64, labels bool) error {
	var cols []data.OutColumn
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
	for range n {
		if err := ctx.Err(); err != nil {
			return err
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
