package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// auto is the --model that goes by what the columns hold: the default.
const auto = "auto"

// modelNames returns what --model may be, the default first.
func modelNames() []string { return append(append([]string{auto}, kind.Names()...), model.ChainKind) }

// modelUsage says what --model may be.
func modelUsage() string {
	return auto + ", which goes by what the columns hold, or one of " + text.List(modelNames()[1:], "and")
}

// reading is how the columns of a table are read: as the kind of model wants them, or to find out which kind they want.
type reading struct {
	kind  *kind.Kind    // that was asked for, of a chain that of its states; nil where the columns decide
	chain bool          // a hidden Markov model was asked for
	types []data.TypeOf // that were given
}

// newReading reads --model, --emission, whose values are name and emission, and --types.
func newReading(cmd *cobra.Command, name, emission string, d *dataFlags) (r reading, err error) {
	if r.chain = name == model.ChainKind; r.chain {
		if k := kind.Of(emission); emission != auto && (k == nil || !k.Mixture) {
			return r, usagef("--emission %q is not known; choose one of %s", emission, strings.Join(emissionNames(), ", "))
		}
		name = emission
	} else if cmd.Flags().Changed("emission") {
		return r, usagef("--emission says what the rows of a state are like: it is for --model %s", model.ChainKind)
	}
	if name != "" && name != auto {
		if r.kind = kind.Of(name); r.kind == nil {
			return r, usagef("--model %q is not known; choose one of %s", name, strings.Join(modelNames(), ", "))
		}
	}
	if !cmd.Flags().Changed("types") {
		return r, nil
	}
	if r.kind != nil && !r.kind.Parted {
		return r, usagef("--types is for --model %s and %s: the columns of %s are all of one type", auto, kind.Mixed.Name, r.kind.Name)
	}
	r.types, err = parseTypes(d.types)
	return r, err
}

// emissionNames returns what --emission may be, the default first.
func emissionNames() []string {
	names := []string{auto}
	for _, name := range kind.Names() {
		if kind.Of(name).Mixture {
			names = append(names, name)
		}
	}
	return names
}

// inSequences refuses columns of sequences and times for a model that knows neither.
func (r *reading) inSequences(cmd *cobra.Command) error {
	if flag := sequenceFlag(cmd); flag != "" && !r.chain {
		return usagef("--%s is for rows that follow each other: it needs --model %s, a hidden Markov model", flag, model.ChainKind)
	}
	return nil
}

// parseTypes reads a list of columns and their types: age=number,visits=count. A name with a comma in it stands in quotes together
// with its type.
func parseTypes(list []string) (types []data.TypeOf, err error) {
	for _, item := range list {
		words := csv.NewReader(strings.NewReader(item))
		words.LazyQuotes, words.TrimLeadingSpace = true, true
		fields, err := words.Read()
		if err != nil && err != io.EOF {
			return nil, usagef("--types %q is not a list of columns and their types, such as age=number,visits=count", item)
		}
		if len(fields) == 0 {
			return nil, usagef("--types is empty; name columns and their types, such as age=number,visits=count")
		}
		for _, field := range fields {
			at := strings.LastIndexByte(field, '=')
			if at < 0 || strings.TrimSpace(field[:at]) == "" {
				return nil, usagef("--types: %q is not a column and its type, such as age=number or visits=count", field)
			}
			t, err := data.ParseType(strings.TrimSpace(field[at+1:]))
			if err != nil {
				return nil, usagef("--types %s: %v", field, err)
			}
			types = append(types, data.TypeOf{Column: strings.TrimSpace(field[:at]), Type: t})
		}
	}
	return types, nil
}

// kindOf returns the kind of the components of a spec.
func kindOf(spec *latent.Spec) *kind.Kind {
	if spec.Model == model.ChainKind {
		return kind.Of(spec.Emission)
	}
	return kind.Of(spec.Model)
}

// parseTransform reads --transform.
func parseTransform(cmd *cobra.Command, value string) ([]data.Change, error) {
	if !cmd.Flags().Changed("transform") {
		return nil, nil
	}
	changes, err := data.ParseChanges(value)
	if err != nil {
		return nil, usagef("--transform %v", err)
	}
	return changes, nil
}

// change has the columns that --transform names read as it needs them: as numbers, or as dates.
func (r *reading) change(changes []data.Change, o *data.Options) error {
	o.Dates = append(o.Dates, data.DatesOf(changes)...)
	for _, c := range changes {
		for _, name := range c.Columns {
			for _, t := range r.types {
				if t.Column == name && t.Type != data.Number {
					return usagef("--transform %s is for numbers, but --types says that column %q holds a %s", c.Kind, name, t.Type)
				}
			}
			if r.kind == nil || r.kind.Parted {
				r.types = append(r.types, data.TypeOf{Column: name, Type: data.Number})
			} else {
				o.Wanted = append(o.Wanted, name)
			}
		}
		o.Spare = 8 // the new columns are held beside the rows
	}
	return nil
}

// follow takes kind and types from the model that a fit starts from, where nobody names them.
func (r *reading) follow(m *model.Model) error {
	if m == nil || r.kind != nil {
		return nil
	}
	r.chain = r.chain || m.IsChain()
	if r.kind = kind.Of(m.ComponentKind()); !r.kind.Parted {
		if r.types != nil {
			return usagef("--types does not apply: the model of --init is a %s one, whose columns are all of one type", m.Kind)
		}
		return nil
	}
	for j, name := range m.Columns {
		if !r.given(name) {
			r.types = append(r.types, data.TypeOf{Column: name, Type: m.Types[j]})
		}
	}
	return nil
}

// given reports whether a column was given a type.
func (r *reading) given(column string) bool {
	return slices.ContainsFunc(r.types, func(t data.TypeOf) bool { return t.Column == column })
}

// gaps returns the kind of model by which --missing goes.
func (r *reading) gaps() *kind.Kind {
	if r.kind == nil {
		return kind.Mixed // as all that the columns can decide for
	}
	return r.kind
}

// outline returns the spec as far as it is known before the columns are: of a kind that takes whatever the columns may lead to.
func (r *reading) outline(spec latent.Spec) latent.Spec {
	if r.chain {
		states := *r
		states.chain, spec.Model = false, ""
		spec = states.outline(spec)
		spec.Model, spec.Emission = model.ChainKind, spec.Model
		return spec
	}
	if r.kind == nil {
		spec.Model = kind.Gaussian.Name
		if p := spec.Prior; p != nil { // of columns that may be there
			own := *p
			own.Levels, own.Shares = nil, nil
			spec.Prior = &own
		}
		return spec
	}
	if spec.Model = r.kind.Name; r.kind.Parted {
		spec.Types = []data.Type{data.Number}
	}
	return spec
}

// options says in o how the columns of path are read. The columns of a built-in set are measurements, whatever few values they have, but for
// the one of labels.
func (r *reading) options(ctx context.Context, path, labels string, o *data.Options) {
	o.Chain = r.chain
	switch {
	case r.kind == nil:
		o.Mixed, o.Types = true, r.types
		if strings.HasPrefix(path, "@") {
			o.Types = append(slices.Clone(r.types), r.measured(ctx, path, labels, *o)...)
		}
	case r.kind.Parted:
		o.Mixed, o.Types = true, r.types
	default:
		o.Categories = r.kind.Cells.Levels
	}
}

// measured returns the type of a number for the features of a built-in set that have no other. There are none where the columns that
// were chosen cannot all be numbers.
func (r *reading) measured(ctx context.Context, path, labels string, o data.Options) (types []data.TypeOf) {
	o.Mixed, o.Types = false, nil
	_, info, err := data.Load(ctx, path, o)
	if err != nil { // reading in earnest will tell of it
		return nil
	}
	for _, name := range info.Features {
		if name != labels && !r.given(name) {
			types = append(types, data.TypeOf{Column: name, Type: data.Number})
		}
	}
	return types
}

// settle gives the spec its kind of model, and what the columns hold.
func (r *reading) settle(in *input) error {
	spec, info := &in.spec, in.info
	flag, alone := wantsNumbers(spec)
	if r.kind == nil && flag != "" {
		r.takeNumbers(in, alone)
	}
	k := r.kindFor(info)
	spec.Model, spec.Columns = k.Name, info.Features
	if r.kind == nil && k == kind.Of("") { // as where nobody names a model
		spec.Model = ""
	}
	switch {
	case k.Parted:
		spec.Types, spec.Levels = info.Types, info.Levels
	case k.Cells.Levels:
		spec.Levels = info.Levels
	}
	if r.chain {
		spec.Model, spec.Emission = model.ChainKind, spec.Model
	}
	if r.kind != nil || flag == "" || k == kind.Gaussian || !alone && k.HasShape(info.Types) {
		return nil
	}
	return noNumbers(flag, alone, info)
}

// kindFor returns the kind of model: the one that was asked for, or else the one for what the columns hold.
func (r *reading) kindFor(info *data.Info) *kind.Kind {
	if r.kind != nil {
		return r.kind
	}
	all := func(is func(j int) bool) bool {
		for j := range info.Types {
			if !is(j) {
				return false
			}
		}
		return true
	}
	switch {
	case all(func(j int) bool { return info.Types[j] == data.Number }):
		return kind.Gaussian
	case all(func(j int) bool {
		return info.Types[j] == data.Category && slices.Equal(info.Levels[j], []string{"0", "1"})
	}):
		return kind.Bernoulli
	case all(func(j int) bool { return info.Types[j] == data.Category }):
		return kind.Categorical
	}
	return kind.Mixed
}

// decided says which kind of model the columns lead to and, where they are of several types, how many there are of each.
func decided(k *kind.Kind, chain bool, info *data.Info) string {
	what := fmt.Sprintf("%s (--model %s)", k.Phrase, k.Name)
	if chain {
		what = fmt.Sprintf("a hidden Markov model with %s emissions", k.Name)
	}
	if !k.Parted {
		return what
	}
	var parts []string
	for _, t := range []data.Type{data.Number, data.Category, data.Count} {
		if n := len(holding(info, func(is data.Type) bool { return is == t })); n > 0 {
			parts = append(parts, text.Count(n, t.String()))
		}
	}
	return what + ": " + text.List(parts, "and")
}

// holding returns the names of the features of some types.
func holding(info *data.Info, of func(data.Type) bool) (names []string) {
	for j, t := range info.Types {
		if of(t) {
			names = append(names, info.Features[j])
		}
	}
	return names
}

// firstOf returns the first n words of a list, and how many more there are.
func firstOf(words []string, n int) []string {
	if len(words) <= n+1 {
		return words
	}
	return append(slices.Clone(words[:n]), fmt.Sprintf("%d more", len(words)-n))
}
