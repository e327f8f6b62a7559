package studio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// asked is the body that begins a run.
type asked struct {
	Data    string      `json:"data"` // the id of a table, or a built-in set
	Spec    latent.Spec `json:"spec"`
	Trace   bool        `json:"trace"` // the climb is watched: one start, by an algorithm that is named
	Options choices     `json:"options"`
}

// choices say how the table is read, and from where a climb begins.
type choices struct {
	ID      string       `json:"id"`
	Weight  string       `json:"weight"`
	Truth   string       `json:"truth"`
	Columns []string     `json:"columns"`
	Exclude []string     `json:"exclude"`
	Types   string       `json:"types"`
	Missing string       `json:"missing"`
	Centers [][]*float64 `json:"centers"` // k rows of the features in their order; null is the mean of the column
	Start   string       `json:"start"`   // a run that was watched: its start is the start of this one, of centres its means
}

// centersFile is what the file of starting centres is called.
const centersFile = "centers.csv"

// specFlags are the keys of a spec in the order in which its flags are told.
var specFlags = []string{"model", "emission", "covariance", "dof", "criterion", "algorithm", "beta", "beta_steps", "batch_size", "penalty", "binarize", "noise", "weights", "concentration", "init", "n_init", "seed", "max_iter",
	"tol", "tol_loglik", "tol_shift", "reg_covar", "prior", "missing", "scale", "transform", "pca", "merge", "bootstrap", "lrt", "allow_long", "keep_sums", "threads"}

// settle makes a climb that is watched one of a single start, so that its command gives the same bits, and refuses what a page has no business with.
func (a *asked) settle() error {
	spec := &a.Spec
	if spec.Model == model.ChainKind {
		return fmt.Errorf("model is %s, a hidden Markov model, and this page has no place for the order of rows in time; use latent fit --model %s, and latent report", spec.Model, spec.Model)
	}
	if spec.Columns != nil {
		return fmt.Errorf("column_names: columns have the names of the file; choose among them by options.columns")
	}
	if from, _, named := strings.Cut(spec.Init, ":"); named && from != "labels" {
		return fmt.Errorf("init %q: a start is placed by options.centers, or taken from a run by options.start", spec.Init)
	}
	if a.Options.Missing != "" && spec.Missing != "" && a.Options.Missing != spec.Missing {
		return fmt.Errorf("missing is %q in the spec and %q in the options; give one of them", spec.Missing, a.Options.Missing)
	}
	placed := len(a.Options.Centers) > 0 || a.Options.Start != ""
	switch {
	case placed && spec.Init != "" && spec.Init != "centers":
		return fmt.Errorf("init is %q, but the start is given; leave init out", spec.Init)
	case placed && len(a.Options.Centers) > 0 && a.Options.Start != "":
		return fmt.Errorf("centers and start both give a start; leave one out")
	case !placed && spec.Init == "centers":
		return fmt.Errorf("init is centers, but options.centers has none")
	case placed:
		spec.Init = "centers:" + centersFile
	}
	if !a.Trace {
		return nil
	}
	switch {
	case spec.KRange != [2]int{}:
		return fmt.Errorf("k_range is given, but a climb that is watched has one number of groups; give k")
	case spec.K == 0 && !placed:
		return fmt.Errorf("k is not given, but a climb that is watched has one number of groups")
	case spec.Algorithm == "vb":
		return fmt.Errorf("algorithm is vb, whose groups in use are told at the end, but a climb that is watched keeps its groups; fit it without watching")
	case spec.Merge != "":
		return fmt.Errorf("merge is given, but a climb that is watched shows the components; leave it out")
	case spec.NInit > 1:
		return fmt.Errorf("n_init is %d, but a climb that is watched has one start", spec.NInit)
	}
	if (spec.Algorithm == "" || spec.Algorithm == "auto") && spec.Penalty == nil {
		spec.Algorithm = "em"
		if k := kind.Of(spec.Model); k != nil && !k.Mixture {
			spec.Algorithm = "lloyd"
		}
	}
	if spec.Algorithm != "exact" {
		spec.NInit = 1
	}
	return nil
}

// words returns the flags that say the same to the command.
func (a *asked) words() (words []string, err error) {
	b, err := json.Marshal(a.Spec)
	if err != nil {
		return nil, err
	}
	keys := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &keys); err != nil {
		return nil, err
	}
	switch r := a.Spec.KRange; {
	case r != [2]int{} && a.Spec.K != 0:
		return nil, fmt.Errorf("k is %d and k_range is given; give one of them", a.Spec.K)
	case r != [2]int{}:
		words = append(words, "-k", fmt.Sprintf("%d:%d", r[0], r[1]))
	case a.Spec.K != 0:
		words = append(words, "-k", strconv.Itoa(a.Spec.K))
	}
	for _, key := range specFlags {
		v, there := keys[key]
		if !there {
			continue
		}
		flag := "--" + strings.ReplaceAll(key, "_", "-")
		if key == "allow_long" || key == "keep_sums" {
			words = append(words, flag)
			continue
		}
		words = append(words, flag, word(v))
	}
	o := &a.Options
	for _, w := range []struct{ flag, value string }{{"--id", o.ID}, {"--weight-column", o.Weight}, {"--truth", o.Truth}, {"--types", o.Types}, {"--missing", o.Missing}} {
		if w.value != "" && !(w.flag == "--missing" && a.Spec.Missing != "") {
			words = append(words, w.flag, w.value)
		}
	}
	for _, c := range o.Columns {
		words = append(words, "--columns", c)
	}
	for _, c := range o.Exclude {
		words = append(words, "--exclude", c)
	}
	return words, nil
}

// word returns a JSON value as a flag takes it: a text as it is, a list with commas.
func word(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(bytes.Trim(v, "[]"))
}

// shellCommand returns the command as it is typed beside the file, whose name is one that typed returns.
func shellCommand(verb, name string, words []string) string {
	all := []string{"latent", verb, text.ShellWord(name)}
	for _, w := range words {
		all = append(all, text.ShellWord(w))
	}
	return strings.Join(all, " ")
}

// typed returns the name of what lies at path as it is typed beside it: one that begins with - would be a flag there, and one that begins with @ a
// built-in set, which an upload is not.
func typed(name, path string) string {
	if strings.HasPrefix(name, "-") || strings.HasPrefix(name, "@") && !strings.HasPrefix(path, "@") {
		return "./" + name
	}
	return name
}

// inFolder returns the words with the file of centres where it lies.
func inFolder(words []string, path string) []string {
	own := slices.Clone(words)
	for i, w := range own {
		if w == "centers:"+centersFile && own[i-1] == "--init" {
			own[i] = "centers:" + path
		}
	}
	return own
}
