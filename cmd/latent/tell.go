package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// checkFlags are the flags of check.
type checkFlags struct {
	data     dataFlags
	model    string
	emission string
	threads  int
	json     bool
}

func checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use: "check DATA...", Short: "What would be read; nothing is fitted", Example: "  latent check customers.csv",
		Args: atLeast(1, "a file, - or @name"),
		RunE: func(cmd *cobra.Command, args []string) error { f.data.more = args[1:]; return f.run(cmd, args[0]) },
	}
	f.data.addChoice(cmd)
	cmd.Flags().StringVar(&f.model, "model", auto, modelUsage())
	cmd.Flags().StringVar(&f.emission, "emission", auto, "hmm: what the rows of a state are like: "+text.List(emissionNames(), "or"))
	cmd.Flags().Uint64Var(&f.data.Seed, "seed", 1, "seed of --sample, as for fit")
	cmd.Flags().BoolVar(&f.json, "json", false, "print it as JSON")
	threadsFlag(cmd, &f.threads)
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, path string) error {
	threads, err := checkThreads(cmd, f.threads)
	if err != nil {
		return err
	}
	o, err := f.data.options(cmd, threads)
	if err != nil {
		return err
	}
	how, err := newReading(cmd, f.model, f.emission, &f.data)
	if err == nil {
		err = how.inSequences(cmd)
	}
	if err != nil {
		return err
	}
	if err := missing(&o, how.gaps()); err != nil {
		return err
	}
	o.Name = calledIn(cmd.Context(), path)
	how.options(cmd.Context(), path, "", &o)
	r := &replay{from: o.Stdin, most: cmp.Or(o.MaxMemory, data.DefaultMaxMemory()) / 2}
	if path == "-" && o.Stdin != nil {
		o.Stdin = r
	}
	p, err := data.Profile(cmd.Context(), path, o)
	if err != nil {
		return err
	}
	again := r.again(path, &o)
	warnOfColumns(cmd.Context(), p, path, o, again)
	if p.Err == nil {
		p.Err = outOfRange(p)
	}
	p.Err = withoutGaps(p.Err, how.gaps())
	t := looked{Report: p, chain: how.chain}
	if how.chain && again && p.Err == nil {
		r.again(path, &o)
		t.sequences, p.Err = lengths(cmd.Context(), path, o)
	}
	if p.Err == nil && len(p.Features) > 0 {
		if t.kind = how.kindFor(p.Info); t.kind != nil && (t.kind.Cells.Units || t.kind.Parted) {
			suggestScales(p)
		}
	}
	if f.json {
		err = printJSON(cmd.OutOrStdout(), t)
	} else {
		err = t.tell(cmd.OutOrStdout())
	}
	if err == nil {
		err = p.Err // what fit would say
	}
	return err
}

// outOfRange returns what fit would say of numbers near the ends of float64: of the features that are numbers, and of the row weights.
func outOfRange(p *data.Report) error {
	for _, c := range p.Columns {
		var err error
		switch {
		case c.Numbers == 0:
		case isNumber(&c):
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
				fmt.Fprintf(w, "@%s\t%s x %d\ttruth: %s\t%s\n", s.Name, text.Thousands(int64(s.Rows)), s.Columns, truth, s.About)
			}
			return w.Flush()
		},
	}
}

// looked is what check tells of a table.
type looked struct {
	*data.Report
	kind *kind.Kind // that fit would take; nil where it would refuse the table
	// Of a hidden Markov model: the rows of the sequences, where the table could be read again.
	chain     bool
	sequences []int
}

// MarshalJSON writes the report, and beside it what fit would make of it.
func (p looked) MarshalJSON() ([]byte, error) {
	b, err := p.Report.MarshalJSON()
	if err != nil {
		return nil, err
	}
	more := struct {
		Missing   int64   `json:"missing_cells"`
		Model     *string `json:"model"`
		Emission  *string `json:"emission,omitempty"`
		Sequences []int   `json:"sequence_rows,omitempty"`
	}{Missing: p.missingCells(), Sequences: p.sequences}
	if p.kind != nil {
		more.Model = &p.kind.Name
	}
	if p.chain && more.Model != nil {
		more.Model, more.Emission = new(model.ChainKind), more.Model
	}
	rest, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ',' // one object: the keys of the second follow those of the first
	return append(b, rest[1:]...), nil
}

// lengthsText says how long sequences are.
func lengthsText(rows []int) string {
	least, most := slices.Min(rows), slices.Max(rows)
	if least == most {
		return text.Count(most, "row")
	}
	return fmt.Sprintf("%s to %s", text.Thousands(int64(least)), text.Count(most, "row"))
}

// lengths reads the sequences of a table, and returns how many rows each has.
func lengths(ctx context.Context, path string, o data.Options) (rows []int, err error) {
	src, _, err := data.Load(ctx, path, o)
	if err != nil {
		return nil, err
	}
	for _, s := range src.(*data.Table).Sequence {
		if int(s) == len(rows) {
			rows = append(rows, 0)
		}
		rows[s]++
	}
	return rows, nil
}

// missingCells returns how many cells of features have no value.
func (p looked) missingCells() (n int64) {
	for _, c := range p.Columns {
		if c.Use == "feature" {
			n += c.Missing
		}
	}
	return n
}

// tell prints the profile.
func (p looked) tell(to io.Writer) error {
	out := bufio.NewWriter(to)
	fmt.Fprintf(out, "%s: %s, %s", p.Name, p.Format, text.Count(max(p.FileRows, p.Rows+p.Dropped), "row"))
	if p.Delimiter != "" {
		fmt.Fprintf(out, "; delimiter %q, decimal %q, %s", p.Delimiter, p.Decimal, map[bool]string{true: "a header", false: "no header"}[p.Header])
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\tkind\tuse\ttype\tmissing\tdistinct\tmin\tmax\tmean\tsd")
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.Kind, use, cmp.Or(p.typeOf(&c), "-"), text.Thousands(c.Missing), text.Thousands(p.Distinct[i]), numbers)
	}
	w.Flush()
	p.tellRows(out)
	for _, s := range p.Warnings {
		fmt.Fprintf(out, "warning: %s\n", s)
	}
	return out.Flush()
}

// typeOf returns the type that a feature has in the model; "" for other columns.
func (p looked) typeOf(c *data.Column) string {
	if c.Use == "feature" && c.Type == "" && p.kind != nil {
		return p.kind.Type().String()
	}
	return c.Type
}

// tellRows prints what is missing and repeated, and what fit would do.
func (p looked) tellRows(out io.Writer) {
	fmt.Fprintf(out, "%s with a missing value", text.Count(p.IncompleteRows, "row"))
	if n := p.missingCells(); n > p.IncompleteRows {
		fmt.Fprintf(out, " (%s)", text.Count(n, "cell"))
	}
	fmt.Fprintf(out, ", %s", text.Count(p.DuplicateRows, "duplicate row"))
	if n := len(p.Features); n > 0 {
		fmt.Fprintf(out, " (by the %s that would be fitted)", text.Count(int64(n), "column"))
	}
	fmt.Fprintln(out)
	if p.kind == nil {
		return
	}
	if p.sequences != nil {
		fmt.Fprintf(out, "%s of %s\n", text.Count(len(p.sequences), "sequence"), lengthsText(p.sequences))
	}
	fmt.Fprintf(out, "latent fit would fit %s\n", decided(p.kind, p.chain, p.Info))
}
