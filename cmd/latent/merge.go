package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// mergeFlags are those of merge.
type mergeFlags struct {
	applyFlags
	method      string
	json, quiet bool
}

func mergeCommand() *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use: "merge MODEL DATA...", Short: "Which components of a mixture make one cluster", Example: "  latent merge model.json customers.csv -o merged.json",
		Long: "Merges components that are hard to tell apart into clusters, by the rows of DATA. The density stays as it is; the labels that the\n" +
			"merged model gives are clusters. latent fit --merge does the same after a fit.",
		Args: atLeast(2, "a model and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.data.more = args[2:]
			return f.run(cmd, args[0], args[1])
		},
	}
	f.data.add(cmd)
	c := cmd.Flags()
	c.MarkHidden("id") // refused below
	c.StringVar(&f.method, "method", "overlap", "overlap or overlap:CUT, merge what overlaps by CUT (0.025) or more; entropy or entropy:K, merge down to K clusters (the bend of the entropies)")
	c.StringVarP(&f.output, "output", "o", "", "write the merged model to this file (JSON); it may be MODEL itself")
	c.StringVar(&f.data.Weight, "weight-column", "", "column of row weights; a weight of 2 is the row twice")
	c.BoolVar(&f.data.Stream, "stream", false, "read the file again in every pass instead of holding its rows in memory")
	c.BoolVar(&f.json, "json", false, "print it as JSON, with the keys of fit")
	c.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	unseenFlag(cmd, &f.unseen)
	threadsFlag(cmd, &f.threads)
	return cmd
}

// readModel reads the model, and refuses what makes no sense before the rows are read.
func (f *mergeFlags) readModel(cmd *cobra.Command, modelFile, path string) (m *model.Model, err error) {
	if cmd.Flags().Changed("id") {
		return nil, usagef("--id has no effect on merge, which names no rows")
	}
	if f.threads, err = checkThreads(cmd, f.threads); err != nil {
		return nil, err
	}
	if f.output != "" {
		if err := distinctFiles(append(f.data.more, path), f.output); err != nil { // the model may be written anew
			return nil, err
		}
		if err := reachable(f.output); err != nil {
			return nil, err
		}
	}
	if m, err = model.Load(modelFile); err != nil {
		return nil, err
	}
	switch {
	case m.IsChain():
		return nil, usagef("%s: merge takes components of a mixture together; the states of a hidden Markov model follow each other and are not merged", modelFile)
	case !m.HasDensity():
		return nil, usagef("%s: merge takes the components of a mixture together by their probabilities; a %s model has centres, which have none", modelFile, m.Kind)
	case f.method == "":
		return nil, usagef("--method names no method; choose overlap or entropy")
	}
	spec := latent.Spec{Model: m.Kind, K: m.K(), Types: m.Types, Merge: f.method}
	var wrong *latent.SpecError
	if err := spec.Validate(); errors.As(err, &wrong) && wrong.Field == "Merge" {
		return nil, usagef("--method %s", wrong.Reason)
	}
	return m, nil
}

// run merges the components of a model.
func (f *mergeFlags) run(cmd *cobra.Command, modelFile, path string) error {
	m, err := f.readModel(cmd, modelFile, path)
	if err != nil {
		return err
	}
	src, _, err := f.rows(cmd, m, path)
	if err != nil {
		return err
	}
	if closer, ok := src.(io.Closer); ok {
		defer closer.Close()
	}
	merged, clusters, err := latent.Merge(cmd.Context(), src, m, f.method, f.threads)
	if err != nil {
		return f.data.error(cmd.Context(), path, err)
	}
	if f.output != "" {
		err := writeAll("", []output{{f.output, "model"}}, func(_ output, w io.Writer) error {
			_, err := merged.WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
	}
	if f.method == "entropy" && m.K() == 2 {
		fmt.Fprintln(cmd.ErrOrStderr(), "latent: warning: the entropies of two components have no bend: nothing is merged")
	}
	r := latent.Told(merged)
	r.Clusters = clusters // which a model written by hand does not keep
	switch {
	case f.json:
		return printJSON(cmd.OutOrStdout(), r)
	case f.quiet:
		return nil
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	w := printable{out}
	fmt.Fprintf(w, "%s\n\n", tell.Merged(r))
	clusterTable(w, r)
	mergers(w, r.Clusters)
	return out.Flush()
}

// clusterTable prints which components make each cluster.
func clusterTable(w io.Writer, r *latent.Result) {
	c := r.Clusters
	shares := text.Percents(c.Weights, 1)
	head, lines := []string{"cluster", "rows", "share", "components"}, make([][]string, c.N)
	for g, list := range r.Model.Members() {
		rows := "-"
		if c.Rows != nil {
			rows = text.Thousands(c.Rows[g])
		}
		lines[g] = []string{strconv.Itoa(g + 1), rows, shares[g], strings.Join(tell.Components(list), ", ")}
	}
	printTable(w, head, lines)
}

// mergers prints the steps by which clusters were found, where they are known.
func mergers(w io.Writer, c *model.Clusters) {
	if len(c.Steps) == 0 && c.Next == nil {
		return
	}
	entropy := c.Cutoff == nil
	head, lines := []string{"clusters", "overlap", "components joined"}, [][]string{}
	if entropy {
		head[1] = "entropy"
		lines = append(lines, []string{strconv.Itoa(len(c.Of)), text.Decimals(*c.Entropy, 4), ""})
	}
	steps := c.Steps
	if c.Next != nil {
		steps = append(slices.Clone(steps), *c.Next)
	}
	for _, s := range steps {
		line := []string{strconv.Itoa(s.Clusters), "", commas(s.Joined[0]) + " with " + commas(s.Joined[1])}
		switch {
		case s.Value != nil:
			line[1] = text.Decimals(*s.Value, 4)
		case s.Entropy != nil:
			line[1] = text.Decimals(*s.Entropy, 4)
		}
		lines = append(lines, line)
	}
	if c.Next != nil {
		lines[len(lines)-1][0] = "-"
	}
	fmt.Fprintln(w)
	printTable(w, head, lines)
	if entropy {
		fmt.Fprintf(w, "(entropy: how unsure it is to which cluster rows belong, in nats, with so many clusters; %s taken)\n", text.Are(c.N, "cluster"))
	} else {
		fmt.Fprintln(w, "(overlap: the share of the rows of one that are taken for the other, the larger of the two; -: not merged)")
	}
}

// commas lists numbers.
func commas(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}
