package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// againstFlags are the flags of score that ask for indices of the labels in place of a line a row.
type againstFlags struct {
	labels   string // --label-column: labels that are there, in place of a model
	validity bool
	seed     uint64
}

func (g *againstFlags) add(cmd *cobra.Command, d *dataFlags) {
	f := cmd.Flags()
	f.StringVar(&d.Truth, "against", "", "column of known groups: print how well the labels agree with it, and --validity")
	f.BoolVar(&g.validity, "validity", false, "print how well the labels fit the data: silhouette, Calinski-Harabasz, Davies-Bouldin")
	f.StringVar(&g.labels, "label-column", "", "judge the labels in this column of DATA; no model is given")
	f.StringVar(&d.Weight, "weight-column", "", "with --against, --validity or --label-column: column of row weights; a weight of 2 is the row twice")
	f.StringArrayVar(&d.columns, "columns", nil, "with --label-column: the data that the labels are of; every other numeric column otherwise")
	f.StringArrayVar(&d.exclude, "exclude", nil, "with --label-column: columns to leave out, written like --columns")
	f.Uint64Var(&g.seed, "seed", 1, "with --against, --validity or --label-column: seed of the sample of rows that the silhouette is estimated from")
}

// asked reports whether indices are wanted, and refuses flags that then, or else, have no effect.
func (g *againstFlags) asked(cmd *cobra.Command, s *scoreFlags) (bool, error) {
	yes := g.validity || s.data.Truth != "" || g.labels != ""
	refused, why := []string{"weight-column", "seed"}, "without --against, --validity or --label-column"
	if yes {
		refused, why = []string{"append", "id", "output", "mahalanobis", "outliers"}, "with indices, which are of all rows together"
	}
	for _, name := range refused {
		if cmd.Flags().Changed(name) {
			return false, usagef("--%s has no effect %s", name, why)
		}
	}
	if g.labels == "" {
		for _, name := range []string{"columns", "exclude"} {
			if cmd.Flags().Changed(name) {
				return false, usagef("--%s has no effect without --label-column: a model knows its columns", name)
			}
		}
	}
	return yes, nil
}

// judge prints the indices of the labels.
func (s *scoreFlags) judge(cmd *cobra.Command, args []string) error {
	var j *judgement
	var err error
	if s.against.labels != "" {
		j, err = s.against.column(cmd, &s.applyFlags, args[0])
	} else {
		j, err = s.against.model(cmd, &s.applyFlags, args[0], args[1])
	}
	if err != nil {
		return err
	}
	o, err := j.finish(cmd.Context(), s.threads)
	if err != nil {
		return err
	}
	if j.unknown > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s no value in the column %s; they count as a class of their own\n", have(j.unknown), s.data.Truth)
	}
	if s.json {
		return printJSON(cmd.OutOrStdout(), o)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	o.tell(printable{out})
	return out.Flush()
}

func have(n int64) string {
	if n == 1 {
		return "1 row has"
	}
	return text.Thousands(n) + " rows have"
}

// silhouetteRows is how many rows of d columns have their silhouettes taken where there are more: 40,824 of two columns, 26,726
// of ten, 10,000 of 96 and more. Within a second or two on two cores the estimate then strays by some 0.002.
func silhouetteRows(d int) int { return max(score.PairedRows(d, 1e10), 10_000) }

// mostGroups is how many groups may have a Davies-Bouldin index, which looks at every pair: a few seconds at 10 columns.
const mostGroups = 20_000

// indices is what score --against prints. Indices that have no value are nil, and Undefined says why.
type indices struct {
	Rows           int64       `json:"rows"`
	WeightTotal    float64     `json:"weight_total"`
	Columns        []string    `json:"columns"`
	Groups         int         `json:"groups"` // that have rows
	Against        *string     `json:"against"`
	Classes        *int        `json:"classes"`
	ARI            *float64    `json:"ari"`
	NMI            *float64    `json:"nmi"`
	Crosstab       any         `json:"crosstab,omitempty"` // *score.Crosstab of labels from 1, or of those in a column of the table; of known classes that are not too many
	table          *crossTable // the same for a reader
	noun           string      // what a label stands for
	Homogeneity    *float64    `json:"homogeneity"`
	Completeness   *float64    `json:"completeness"`
	V              *float64    `json:"v_measure"`
	Silhouette     *float64    `json:"silhouette"`
	SilhouetteRows int64       `json:"silhouette_rows"`
	// SilhouetteLeast is how many rows of every group are among these, or all of its rows; 0 where these are all rows.
	SilhouetteLeast int               `json:"silhouette_rows_per_group,omitempty"`
	Seed            uint64            `json:"seed"`
	Calinski        *float64          `json:"calinski_harabasz"`
	Davies          *float64          `json:"davies_bouldin"`
	Undefined       map[string]string `json:"undefined,omitempty"`
}

// A judgement gathers the indices from rows that it is shown in two passes.
type judgement struct {
	out      *indices
	agree    score.Agreement[string, int] // known classes first
	k        int                          // groups of the model; 0 without one
	noise    bool                         // the model has noise, label -1
	names    []string                     // of the groups where a column of the table tells them, in the order of their numbers
	groups   map[int]bool
	stream   *score.Stream
	sample   *score.SilhouetteSample
	x        []float64
	unknown  int64  // rows without a known class
	distance string // why there are no distances; "" where there are
}

func newJudgement(d int, columns []string, against string, seed uint64) *judgement {
	j := &judgement{out: &indices{Columns: columns, Seed: seed, noun: "group", Undefined: map[string]string{}}, groups: map[int]bool{},
		stream: score.NewStream(d), sample: score.NewSilhouetteSample(d, silhouetteRows(d), rng.ScoreSilhouettes.New(seed)), x: make([]float64, d)}
	if against != "" {
		j.out.Against = &against
	}
	return j
}

// labelOf is the label of row i of a block.
type labelOf func(b *data.Block, i int) int

// first shows a block for the first time.
func (j *judgement) first(b *data.Block, label labelOf) error {
	for i := range b.N {
		w, l := b.Weight(i), label(b, i)
		j.out.Rows++
		if w == 0 {
			continue
		}
		j.out.WeightTotal += w
		if l >= 0 { // else noise, which is no group
			j.groups[l] = true
		}
		if j.out.Against != nil {
			if b.Truth[i] == "" {
				j.unknown++
			}
			if err := j.agree.Add(b.Truth[i], l, w); err != nil {
				return err
			}
		}
		if j.distance != "" || l < 0 {
			continue
		}
		if j.read(b, i); !whole(j.x) {
			j.distance = "there are rows with missing cells, which have no distances"
			continue
		}
		if err := j.stream.Gather(l, j.x, w); err != nil {
			return err
		}
		if err := j.sample.Add(l, j.x, w); err != nil {
			return err
		}
	}
	return nil
}

// whole reports whether no cell is missing.
func whole(x []float64) bool {
	for _, v := range x {
		if v != v {
			return false
		}
	}
	return true
}

// second shows a block again, where rows have distances.
func (j *judgement) second(b *data.Block, label labelOf) error {
	if j.distance != "" {
		return nil
	}
	for i := range b.N {
		if label(b, i) < 0 {
			continue
		}
		j.read(b, i)
		if err := j.stream.Measure(label(b, i), j.x, b.Weight(i)); err != nil {
			return err
		}
	}
	return nil
}

func (j *judgement) read(b *data.Block, i int) {
	for c := range j.x {
		j.x[c] = b.At(i, c)
	}
}

// finish computes the indices.
func (j *judgement) finish(ctx context.Context, threads int) (*indices, error) {
	o := j.out
	o.Groups = len(j.groups)
	if o.Against != nil {
		classes, _ := j.agree.Labels()
		o.Classes = new(len(classes))
		j.crosstab(classes)
		o.ARI, o.NMI = new(j.agree.ARI()), new(j.agree.NMI())
		o.Homogeneity, o.Completeness, o.V = new(j.agree.Homogeneity()), new(j.agree.Completeness()), new(j.agree.VMeasure())
	}
	for _, index := range []struct {
		key     string
		into    **float64
		compute func() (float64, error)
	}{
		{"silhouette", &o.Silhouette, func() (float64, error) { return j.silhouette(ctx, threads) }},
		{"calinski_harabasz", &o.Calinski, j.stream.CalinskiHarabasz},
		{"davies_bouldin", &o.Davies, j.daviesBouldin},
	} {
		if j.distance != "" {
			o.Undefined[index.key] = j.distance
			continue
		}
		v, err := index.compute()
		var undefined *score.UndefinedError
		switch {
		case errors.As(err, &undefined):
			o.Undefined[index.key] = undefined.Why
		case err != nil:
			return nil, err
		default:
			*index.into = &v
		}
	}
	return o, nil
}

// crosstab adds the table of the groups against the known classes, unless it is too large.
func (j *judgement) crosstab(classes []string) {
	if j.names == nil {
		var labels []int
		if j.noise {
			labels = []int{0}
		}
		for c := range j.k {
			labels = append(labels, c+1)
		}
		if t := score.NewCrosstab(labels, classes, func(label int, class string) float64 { return j.agree.Count(class, label-1) }); t != nil {
			j.out.Crosstab, j.out.table = t, newTable(t, j.out.noun)
		}
		return
	}
	number := map[string]int{}
	for i, name := range j.names {
		number[name] = i
	}
	sorted := slices.Clone(j.names)
	score.SortNames(sorted)
	if t := score.NewCrosstab(sorted, classes, func(name, class string) float64 { return j.agree.Count(class, number[name]) }); t != nil {
		j.out.Crosstab, j.out.table = t, newTable(t, j.out.noun)
	}
}

// silhouette computes that of the sample, and says what the sample is of.
func (j *judgement) silhouette(ctx context.Context, threads int) (float64, error) {
	e, err := j.sample.Silhouette(ctx, threads)
	if err != nil {
		return 0, err
	}
	j.out.SilhouetteRows, j.out.SilhouetteLeast = int64(len(e.Values)), e.Least
	return e.Mean, nil
}

func (j *judgement) daviesBouldin() (float64, error) {
	if len(j.groups) > mostGroups {
		return 0, &score.UndefinedError{Index: "Davies-Bouldin index", Why: fmt.Sprintf("it compares every pair of %s, and there are more than %s", text.Plural(j.out.noun), text.Thousands(mostGroups))}
	}
	return j.stream.DaviesBouldin()
}

// model shows the labels that a model gives to a judgement.
func (g *againstFlags) model(cmd *cobra.Command, a *applyFlags, modelFile, path string) (*judgement, error) {
	m, src, err := a.load(cmd, modelFile, path)
	if err != nil {
		return nil, err
	}
	j := newJudgement(len(m.Variables()), m.Variables(), a.data.Truth, g.seed)
	j.k, j.noise, j.out.noun = m.NumLabels(), m.Noise != nil, tell.Label(latent.Told(m))
	switch k := kind.Of(m.ComponentKind()); {
	case k.Cells.Levels:
		j.distance = k.Cells.Are + " have no distances"
	case k.Parted:
		j.distance = "rows of columns of several kinds have no distances"
	}
	passes := []func(*data.Block, labelOf) error{j.first, j.second}
	if j.distance != "" {
		passes = passes[:1]
	}
	for _, pass := range passes {
		err := m.Rows(cmd.Context(), src, a.threads, func(s *model.Scored) error {
			return pass(s.Block, func(_ *data.Block, i int) int { return int(s.Label[i]) })
		})
		if err != nil {
			return nil, a.data.error(cmd.Context(), path, err)
		}
	}
	return j, nil
}

// column shows labels that stand in the table to a judgement.
func (g *againstFlags) column(cmd *cobra.Command, a *applyFlags, path string) (*judgement, error) {
	var err error
	if a.threads, err = checkThreads(cmd, a.threads); err != nil {
		return nil, err
	}
	if flag := sequenceFlag(cmd); flag != "" {
		return nil, usagef("--%s has no effect with --label-column, which reads labels and makes none", flag)
	}
	o, err := a.data.options(cmd, a.threads)
	if err != nil {
		return nil, err
	}
	o.ID = g.labels // the text of a column beside the numbers
	src, info, err := data.Load(cmd.Context(), path, o)
	if err != nil {
		return nil, err
	}
	for _, w := range info.Warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "latent: warning: %s\n", w)
	}
	j := newJudgement(len(info.Features), info.Features, a.data.Truth, g.seed)
	j.names = []string{}
	numbers := map[string]int{}
	label := func(b *data.Block, i int) int { // an empty one is a label too: rows that were left over
		l, seen := numbers[b.ID[i]]
		if !seen {
			l = len(numbers)
			numbers[b.ID[i]] = l
			j.names = append(j.names, b.ID[i])
		}
		return l
	}
	for _, pass := range []func(*data.Block, labelOf) error{j.first, j.second} {
		if err := data.EachBlock(cmd.Context(), src, func(b *data.Block) error { return pass(b, label) }); err != nil {
			return nil, fileError(path, err)
		}
	}
	return j, nil
}

// tell prints the indices for a reader.
func (o *indices) tell(w io.Writer) {
	fmt.Fprintf(w, "%s in %s", text.Count(o.Rows, "row"), text.Count(o.Groups, o.noun))
	if o.Against != nil {
		fmt.Fprintf(w, ", compared with %s of the column %s", classes(*o.Classes), *o.Against)
	}
	fmt.Fprintf(w, "\n\n")
	line := func(name, key string, v *float64, note string) {
		value := "-"
		if v != nil {
			value = text.Decimals(*v, 3)
		} else {
			note = "undefined: " + o.Undefined[key]
		}
		fmt.Fprintf(w, "  %-18s %10s  %s\n", name, value, note)
	}
	if o.Against != nil {
		fmt.Fprintln(w, "agreement with the known groups")
		line("ARI", "", o.ARI, "1 for the same groups, about 0 for chance")
		line("NMI", "", o.NMI, "1 for the same groups, 0 for independent ones")
		line("homogeneity", "", o.Homogeneity, "1 where every "+o.noun+" is of one class")
		line("completeness", "", o.Completeness, "1 where every class is in one "+o.noun)
		line("V-measure", "", o.V, "the harmonic mean of these two")
		fmt.Fprintln(w)
		if o.table != nil {
			o.table.tell(w, "the column "+*o.Against)
			fmt.Fprintln(w)
		}
	}
	names := o.Columns
	if len(names) > 8 {
		names = append(slices.Clone(names[:7]), "...")
	}
	fmt.Fprintf(w, "validity, from %s: %s\n", text.Count(len(o.Columns), "column"), strings.Join(names, ", "))
	note := "-1 to 1, higher is better"
	if o.SilhouetteLeast > 0 {
		note += fmt.Sprintf("; estimated from %s (seed %d)", sampledRows(o.SilhouetteRows, o.SilhouetteLeast, o.noun), o.Seed)
	}
	line("silhouette", "silhouette", o.Silhouette, note)
	line("Calinski-Harabasz", "calinski_harabasz", o.Calinski, "higher is better")
	line("Davies-Bouldin", "davies_bouldin", o.Davies, "lower is better")
}

// sampledRows says which rows silhouettes are of where they are not of all.
func sampledRows(rows int64, least int, noun string) string {
	return fmt.Sprintf("%s rows drawn at random, at least %s of every %s or all that it has", text.Thousands(rows), text.Thousands(int64(least)), noun)
}

func classes(n int) string {
	if n == 1 {
		return "1 class"
	}
	return text.Thousands(int64(n)) + " classes"
}
