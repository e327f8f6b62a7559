package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/latent-go/latent/model"
)

func exportCommand() *cobra.Command {
	var to, path string
	cmd := &cobra.Command{
		Use: "export MODEL --to npz|json", Short: "The model as arrays for numpy and scikit-learn", Example: "  latent export model.json -o model.npz",
		Args: exactly(1, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := exporter(to, path)
			if err != nil {
				return err
			}
			if path != "" {
				if err := distinctFiles(args, path); err != nil {
					return err
				}
				if err := reachable(path); err != nil {
					return err
				}
			} else if f, ok := cmd.OutOrStdout().(*os.File); ok && to == "npz" && term.IsTerminal(int(f.Fd())) {
				return usagef("NPZ is not text: give -o FILE")
			}
			m, err := model.Load(args[0])
			if err != nil {
				return err
			}
			arrays, err := m.Arrays()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if path == "" {
				return buffered(cmd.OutOrStdout(), arrays, write)
			}
			return writeAll("", []output{{path, ""}}, func(_ output, w io.Writer) error { return buffered(w, arrays, write) })
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "npz or json; by the name of the file otherwise")
	cmd.Flags().StringVarP(&path, "output", "o", "", "write to this file instead of standard output")
	return cmd
}

type arrayWriter func(w io.Writer, arrays []model.Array) error

// exporter returns what writes the format, which the name of the file decides where --to does not.
func exporter(to, path string) (arrayWriter, error) {
	format := to
	if format == "" {
		format = strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	}
	switch {
	case format == "npz":
		return writeNPZ, nil
	case format == "json":
		return writeArrays, nil
	case to != "":
		return nil, usagef("--to %q is not known; choose one of npz, json", to)
	case path != "":
		return nil, usagef("%s: the name does not end in .npz or .json; say which with --to", path)
	}
	return nil, usagef("--to is needed: npz or json")
}

func buffered(w io.Writer, arrays []model.Array, write arrayWriter) error {
	b := bufio.NewWriter(w)
	if err := write(b, arrays); err != nil {
		return err
	}
	return b.Flush()
}
