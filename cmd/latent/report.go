package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/report"
)

func reportCommand() *cobra.Command {
	var a applyFlags
	cmd := &cobra.Command{
		Use:     "report MODEL DATA... -o PAGE",
		Short:   "The pictures of a model and its rows as one HTML page, without fitting",
		Example: "  latent report model.json customers.csv -o page.html",
		Args:    atLeast(2, "a model and a file"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if a.data.more = args[2:]; a.output == "" {
				return usagef("report needs a file to write: -o page.html")
			}
			if a.threads, err = checkThreads(cmd, a.threads); err != nil {
				return err
			}
			if err := distinctFiles(args, a.output); err != nil {
				return err
			}
			if err := reachable(a.output); err != nil {
				return err
			}
			m, src, info, err := a.read(cmd, args[0], args[1])
			if err != nil {
				return err
			}
			r := latent.Told(m)
			r.Data, r.Threads = info.Name, a.threads
			return writeAll("", []output{{path: a.output}}, func(_ output, w io.Writer) error {
				return a.data.error(cmd.Context(), args[1], writeReport(cmd.Context(), w, src, r, reported{path: args[1], info: info, read: a.data.used, command: repeat(cmd, args)}))
			})
		},
	}
	a.data.add(cmd)
	a.data.addSequence(cmd)
	cmd.Flags().StringVarP(&a.output, "output", "o", "", "write the page to this file (HTML)")
	threadsFlag(cmd, &a.threads)
	return cmd
}

// reported is what a page tells beside the result.
type reported struct {
	path    string
	info    *data.Info
	read    data.Options // what the rows were read with
	command string
	steps   []report.Step
}

// writeReport writes the page about a result.
func writeReport(ctx context.Context, w io.Writer, src data.Source, r *latent.Result, about reported) error {
	rows, err := report.Gather(ctx, r.Model, src, r.Threads)
	if err != nil {
		return err
	}
	if rows.N == 0 {
		return errors.New("there are no rows to draw")
	}
	table, err := tableOf(ctx, r.Model, about, r.Threads)
	if err != nil {
		return err
	}
	p := report.Page{Result: r, Rows: rows, Table: table, Command: about.command, When: time.Now().Format("2006-01-02 15:04"), Machine: fmt.Sprintf("%s, kernel level %s", text.Count(r.Threads, "thread"), kern.Current()), Steps: about.steps}
	if about.info != nil {
		p.LeftOut, p.Names = about.info.LeftOut(), about.info.Sequences
	}
	if !strings.HasPrefix(about.path, "@") && about.path != "-" {
		if p.Hash, err = hashOf(about.path, about.read.More); err != nil {
			return err
		}
	}
	return report.Write(w, p)
}

// tableOf reads the table again with all of its columns, also those that were not fitted. Of standard input, which is gone, the columns that
// were fitted are told by the model.
func tableOf(ctx context.Context, m *model.Model, about reported, threads int) (*report.Table, error) {
	if about.path == "-" {
		return nil, nil
	}
	src, info, err := data.Load(ctx, about.path, everyColumn(about.read, m))
	if err != nil {
		return nil, err
	}
	defer closeRows(src)
	return report.Describe(ctx, m, src, info, threads)
}

// hashOf returns the SHA-256 of the files of a table, one after another.
func hashOf(path string, more []string) (string, error) {
	files, err := data.Parts(path, more...)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	add := func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(h, f)
		return err
	}
	for _, path := range files {
		if err := add(path); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), nil
}

// fileFlags are the flags whose value is a file.
var fileFlags = []string{"output", "labels", "report", "trace", "out", "config"}

// withoutFolders returns the value of a flag without the folders of the file that it names: a page may go where they tell nothing, or too much.
func withoutFolders(flag, value string) string {
	if slices.Contains(fileFlags, flag) {
		return filepath.Base(value)
	}
	if what, path, ok := strings.Cut(value, ":"); ok && flag == "init" && what != "labels" {
		return what + ":" + filepath.Base(path)
	}
	return value
}

// repeat returns the command that was given, as it would be in the folder of its files.
func repeat(cmd *cobra.Command, args []string) string {
	words := []string{cmd.CommandPath()}
	for _, arg := range args {
		words = append(words, filepath.Base(arg))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
			return
		}
		values := []string{f.Value.String()}
		if list, many := f.Value.(pflag.SliceValue); many { // each as it was given: --columns a --columns b
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name, withoutFolders(f.Name, v))
		}
	})
	for i, word := range words {
		if i > 0 {
			words[i] = text.ShellWord(word)
		}
	}
	return strings.Join(words, " ")
}

// reportStep is a step as the page draws it.
func reportStep(p latent.Progress) report.Step {
	s := report.Step{Start: p.Start, Sweep: p.Sweeps, Free: p.Point.F, LogLik: p.Point.LogLik, Beta: p.Point.Beta, Distance: p.Distance, Lifted: math.NaN()}
	if p.InHalves() {
		s.Lifted = p.Point.Lifted
	}
	return s
}
