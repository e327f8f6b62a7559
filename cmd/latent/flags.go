package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// normalise makes one name of a flag's spellings.
func normalise(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	switch name {
	case "n-clusters", "n-components":
		name = "k"
	}
	return pflag.NormalizedName(name)
}

// dataFlags say how a table is read.
type dataFlags struct {
	used data.Options // what the data were read with
	data.Options
	engineFlags
	columns, exclude []string
	types            []string
	more             []string // further files of the table
	na               string
	memory           memoryFlag
}

// add adds the flags for files whose columns are known (label, score).
func (d *dataFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.Format, "format", "", "csv, tsv, parquet, npy or idx; by content and name otherwise")
	f.StringVar(&d.Header, "header", "auto", "auto, yes or no: whether the first row names the columns")
	f.StringVar(&d.Delimiter, "delimiter", "", "what separates cells; detected otherwise (tab may be written \\t)")
	f.StringVar(&d.Decimal, "decimal", "", "what separates decimals: . or ,; detected otherwise")
	f.StringVar(&d.ID, "id", "", "column that names the rows")
	f.StringVar(&d.Missing, "missing", "", "what to do with rows that lack a value: model takes the cells that are there, drop leaves the row out, error stops (mixtures: model; kmeans and kmedians: error)")
	f.StringVar(&d.na, "na", "", "texts that mean a missing value, separated by commas, in place of NA, N/A, NaN, null and ?; an empty cell always does")
	f.BoolVar(&d.AllowFewer, "allow-fewer", false, "with --missing drop: go on with less than half of the rows")
	d.memory.add(cmd)
}

// addSequence adds the flags that say how the rows of a hidden Markov model follow each other.
func (d *dataFlags) addSequence(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.Sequence, "sequence", "", "hmm: column that tells sequences apart; without it all rows are one")
	f.StringVar(&d.Time, "time", "", "hmm: column of numbers or dates that orders the rows of a sequence; the file's order otherwise")
}

// sequenceFlag returns the flag of sequences that was given; "" for none.
func sequenceFlag(cmd *cobra.Command) string {
	for _, name := range []string{"sequence", "time"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// addChoice adds the flags that choose columns and rows (fit, check).
func (d *dataFlags) addChoice(cmd *cobra.Command) {
	d.add(cmd)
	d.addSequence(cmd)
	f := cmd.Flags()
	f.StringVar(&d.Weight, "weight-column", "", "column of row weights; a weight of 2 is the row twice")
	f.StringVar(&d.Truth, "truth", "", "column that the groups are compared with; it is not fitted")
	f.StringArrayVar(&d.columns, "columns", nil, "columns to fit: names, globs, ranges a-d or 1-4, /regex/, separated by commas")
	f.StringArrayVar(&d.exclude, "exclude", nil, "columns to leave out, written like --columns")
	f.StringArrayVar(&d.types, "types", nil, "what columns hold, where the guess from their cells is wrong: COLUMN=number, =category or =count, separated by commas")
	f.Int64Var(&d.Limit, "limit", 0, "use the first N rows")
	f.Int64Var(&d.Sample, "sample", 0, "use N rows drawn at random (by --seed)")
	f.BoolVar(&d.Float32, "float32", false, "store rows as float32")
}

// options returns the options for reading.
func (d *dataFlags) options(cmd *cobra.Command, threads int) (data.Options, error) {
	o := d.Options
	o.More = d.more
	o.Columns, o.Exclude, o.Threads, o.Stdin = d.columns, d.exclude, threads, cmd.InOrStdin()
	o.MaxMemory = int64(d.memory)
	if o.NASet = cmd.Flags().Changed("na"); o.NASet && d.na != "" {
		o.NA = strings.Split(d.na, ",")
	}
	if o.Delimiter == `\t` || o.Delimiter == "tab" {
		o.Delimiter = "\t"
	}
	if n := utf8.RuneCountInString(o.Delimiter); n > 1 && !slices.Contains([]string{"auto", "comma", "semicolon", "space", "pipe"}, o.Delimiter) {
		return o, usagef("--delimiter %q is not one sign, such as ; or \\t", o.Delimiter)
	}
	for _, w := range []struct{ flag, value, allowed string }{
		{"header", o.Header, "auto yes no"}, {"missing", o.Missing, " model drop error"}, {"format", o.Format, " csv tsv parquet npy idx"}, {"decimal", o.Decimal, " . ,"},
	} {
		if !slices.Contains(strings.Split(w.allowed, " "), w.value) {
			return o, usagef("--%s %q is not known; choose one of %s", w.flag, w.value, strings.Join(strings.Fields(w.allowed), ", "))
		}
	}
	if o.AllowFewer && o.Missing != "drop" {
		return o, usagef("--allow-fewer has no effect without --missing drop")
	}
	for name, n := range map[string]int64{"limit": o.Limit, "sample": o.Sample} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && n < 1 {
			return o, usagef("--%s is %d; it must be at least 1", name, n)
		}
	}
	return o, nil
}

// specFlags say what is fitted.
type specFlags struct {
	latent.Spec
	k, init, betaSteps string
	maxIter            int
	tol, binarize      float64
	beta               []string
	penalty, prior     string
	concentration      string
	emission           string
	seed               uint64
	config             string
}

func (s *specFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.k, "k", "k", "", "number of groups, or a range LO:HI to choose from (also --n-clusters, --n-components); mixtures choose from 1:9")
	f.StringVar(&s.Model, "model", auto, modelUsage())
	f.StringVar(&s.emission, "emission", auto, "hmm: what the rows of a state are like: "+text.List(emissionNames(), "or"))
	f.StringVar(&s.Covariance, "covariance", "full", "full, tied, diag, spherical, tied-diag, tied-spherical, or mclust's VVV EEE VVI VII EEI EII VEI EVI VEE EVE VVE EEV VEV EVV; factors:Q, factors-tied:Q and ppca:Q have Q factors (UUU UCU UUC), and factors:LO:HI as many as the criterion takes; a list of them, or all (without factors), is chosen from, and so is all without -k")
	f.StringVar(&s.Dof, "dof", "", "t: degrees of freedom: auto (each group its own), tied (one for all) or a number")
	f.StringVar(&s.Criterion, "criterion", "", "what the choice of k and shape is made by: bic (mixtures), aic, icl or silhouette (kmeans, kmedians), gap or elbow (kmeans)")
	f.StringVar(&s.Algorithm, "algorithm", "auto", "auto, em-lbfgs, em, hard-em, anti-annealing, squarem, bfgs, lbfgs, ecg; gmm also vb (variational Bayes: finds how many of -k groups there are); kmeans: breathing, lloyd, exact, minibatch; kmedians: lloyd, exact")
	f.StringVar(&s.Noise, "noise", "", "gmm: one more component for rows that lie anywhere, label 0: auto, or its volume")
	f.StringVar(&s.Weights, "weights", "learned", "mixing weights: learned or uniform; --algorithm vb: learned or process")
	f.StringVar(&s.concentration, "concentration", "", "--algorithm vb: the prior of the weights, above 0 (1 / -k); the smaller, the fewer groups stay in use")
	f.StringVar(&s.init, "init", "auto", "auto, k-means++, random, kmeans, whitened, small-em, mixed, labels:COLUMN, model:FILE or centers:FILE")
	f.IntVar(&s.BatchSize, "batch-size", 0, "rows a mini-batch draws (1024)")
	f.StringVar(&s.penalty, "penalty", "", "kmeans: the price of a cluster in squared distance; finds k (DP-means). auto suggests one for about -k clusters")
	f.Float64Var(&s.binarize, "binarize", 0, "bernoulli: make bits of numbers, 1 above this threshold")
	f.StringSliceVar(&s.beta, "beta", nil, "inverse temperatures of anti-annealing, ending at 1 (0.2,0.4,0.6,0.8,1,1.2,1)")
	f.StringVar(&s.betaSteps, "beta-steps", "settled", "EM steps at each temperature: a number, or settled: until little changes (at most 100)")
	f.IntVar(&s.NInit, "n-init", 0, "number of starts (5 or 10 on up to 10,000 rows, 3 beyond; breathing 1 or 2)")
	f.IntVar(&s.maxIter, "max-iter", 0, "how many steps are allowed (1000; kmeans 300)")
	f.Float64Var(&s.tol, "tol", 0.01, "how near the maximum to stop, in standard errors; 0 goes on until nothing changes")
	f.Float64Var(&s.TolLogLik, "tol-loglik", 0, "stop by the change of the mean log-likelihood instead, as scikit-learn does (often too early)")
	f.Float64Var(&s.TolShift, "tol-shift", 0, "stop kmeans by how far the centres move, squared, instead")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the random numbers")
	f.Float64Var(&s.RegCovar, "reg-covar", 0, "added to every variance, as scikit-learn does")
	f.StringVar(&s.prior, "prior", "", "mixtures but t: a conjugate prior, so that no group collapses: auto, or shrinkage=, dof=, scale-factor=, weights=, levels=, transitions= separated by commas")
	f.StringVar(&s.Scale, "scale", "none", "none, standard or robust: scale the columns first")
	f.StringVar(&s.Transform, "transform", "", "put columns on other scales first: 'log:price,area; log1p:visits; sqrt:n; logit:rate; date:when; geo:lat,lon', or dmy: or mdy: for dates such as 1/2/2024; kept in the model")
	f.IntVar(&s.PCA, "pca", 0, "fit that many principal components of the rows, after --scale")
	f.BoolVar(&s.AllowLong, "allow-long", false, "fit even what would take long: many parameters for the size of the table")
	f.StringVar(&s.config, "config", "", "JSON file of flags: {\"k\": 3, \"covariance\": \"tied\"}; a flag overrules the file")
	threadsFlag(cmd, &s.Threads)
}

func threadsFlag(cmd *cobra.Command, into *int) {
	cmd.Flags().IntVar(into, "threads", 0, "number of threads (all cores); it changes no result")
}

// checkThreads returns the number of threads to use.
func checkThreads(cmd *cobra.Command, n int) (int, error) {
	if cmd.Flags().Changed("threads") && n < 1 {
		return 0, usagef("--threads is %d; it must be at least 1", n)
	}
	if n > latent.MaxThreads {
		return 0, usagef("--threads is %d; it can be at most %d; leave it out for all cores", n, latent.MaxThreads)
	}
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return n, nil
}

// spec returns the spec of the flags. Defaults that only some models have stay unset unless they were given.
func (s *specFlags) spec(cmd *cobra.Command) (latent.Spec, error) {
	f, spec := cmd.Flags(), s.Spec
	if err := s.parseK(&spec, f.Changed("k")); err != nil {
		return spec, err
	}
	for name, field := range map[string]*string{"covariance": &spec.Covariance, "weights": &spec.Weights, "algorithm": &spec.Algorithm, "scale": &spec.Scale, "model": &spec.Model} {
		if !f.Changed(name) {
			*field = ""
		}
	}
	if f.Changed("beta") {
		spec.Beta = []float64{} // none is not the default
		for _, word := range s.beta {
			v, err := parseFloat(word)
			if err != nil {
				return spec, usagef("--beta %q is not a list of numbers", strings.Join(s.beta, ","))
			}
			spec.Beta = append(spec.Beta, v)
		}
	}
	if f.Changed("beta-steps") && s.betaSteps != "settled" {
		n, err := parseInt(s.betaSteps)
		if err != nil || n < 1 {
			return spec, usagef("--beta-steps %q is neither settled nor a whole number above 0", s.betaSteps)
		}
		spec.BetaSteps = int(n)
	}
	if f.Changed("max-iter") {
		spec.MaxIter = &s.maxIter
	}
	if f.Changed("tol") {
		spec.Tol = &s.tol
	}
	if f.Changed("penalty") && s.penalty != "auto" {
		v, err := parseFloat(s.penalty)
		if err != nil {
			return spec, usagef("--penalty %q is neither auto nor a number", s.penalty)
		}
		spec.Penalty = &v
	}
	if f.Changed("prior") {
		p, err := model.ParsePrior(s.prior)
		if err != nil {
			return spec, usagef("--prior %v", err)
		}
		spec.Prior = p
	}
	if f.Changed("concentration") {
		v, err := parseFloat(s.concentration)
		if err != nil {
			return spec, usagef("--concentration %q is not a number", s.concentration)
		}
		spec.Concentration = &v
	}
	if f.Changed("noise") && spec.Noise != "auto" {
		switch v, err := parseFloat(spec.Noise); err {
		case nil:
			spec.Noise = strconv.FormatFloat(v, 'g', -1, 64)
		case errNumber:
			return spec, usagef("--noise %q is neither auto nor a volume", spec.Noise)
		}
	}
	if f.Changed("binarize") {
		spec.Binarize = &s.binarize
	}
	if f.Changed("batch-size") && spec.BatchSize < 1 {
		return spec, usagef("--batch-size is %d; it must be at least 1", spec.BatchSize)
	}
	if f.Changed("pca") && spec.PCA < 1 {
		return spec, usagef("--pca is %d; it must be at least 1", spec.PCA)
	}
	for name, n := range map[string]int{"bootstrap": spec.Bootstrap, "lrt": spec.LRT} {
		if f.Changed(name) && n < 1 {
			return spec, usagef("--%s is %d; it must be at least 1", name, n)
		}
	}
	if f.Changed("n-init") && spec.NInit < 1 {
		return spec, usagef("--n-init is %d; it must be at least 1", spec.NInit)
	}
	if f.Changed("seed") {
		spec.Seed = &s.seed
	}
	var err error
	if spec.Threads, err = checkThreads(cmd, spec.Threads); err != nil {
		return spec, err
	}
	spec.Init = s.init
	return spec, nil
}

// parseK reads -k: a number of groups or a range of them. given tells whether the flag is there at all.
func (s *specFlags) parseK(spec *latent.Spec, given bool) error {
	if !given {
		return nil // chosen, or Validate says that it is needed
	}
	if low, high, ok := strings.Cut(s.k, ":"); ok {
		lo, err := parseInt(low)
		hi, also := parseInt(high)
		if err != nil || also != nil || lo < 1 || hi < lo {
			return usagef("-k cannot be %q: a range goes from a lowest number, at least 1, to a highest, such as 2:9", s.k)
		}
		spec.KRange = [2]int{int(lo), int(hi)}
		return nil
	}
	k, err := parseInt(s.k)
	if err != nil || k < 1 {
		return usagef("-k cannot be %q: it must be a whole number, at least 1", s.k)
	}
	spec.K = int(k)
	return nil
}

// applyConfig sets the flags that a JSON file names and the command line does not.
func applyConfig(cmd *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return usagef("%s: there is no such file", path)
		}
		return usageError{err}
	}
	keys, twice, err := configKeys(b)
	switch {
	case err != nil:
		return usagef("%s: this is not a JSON object of flags, such as {\"k\": 3}", path)
	case twice != "":
		return usagef("%s: %s is there twice; give it once", path, twice)
	}
	spelled := map[string]string{} // flag -> the key that names it
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		raw, f := keys[key], cmd.Flags().Lookup(key) // normalised, so n_init finds --n-init
		if f == nil || f.Name == "config" || f.Name == "help" {
			return usagef("%s: %s: there is no flag of this name", path, key)
		}
		if other, twice := spelled[f.Name]; twice {
			return usagef("%s: %s and %s are the same flag; give one of them", path, other, key)
		}
		spelled[f.Name] = key
		values, err := configValues(raw)
		if f.Name == "prior" && raw[0] == '{' {
			values, err = []string{string(raw)}, nil
		}
		if err != nil {
			return usagef("%s: %s: %v", path, key, err)
		}
		if _, many := f.Value.(pflag.SliceValue); !many && len(values) != 1 {
			return usagef("%s: %s takes one value, not a list of %d", path, key, len(values))
		} else if many && len(values) == 0 {
			return usagef("%s: %s is an empty list; leave it out, or name a value", path, key)
		}
		if f.Changed {
			continue
		}
		for _, v := range values {
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				_, why, _ := strings.Cut(err.Error(), " flag: ")
				if strings.HasPrefix(why, "strconv.") {
					why = "it must be true or false"
				}
				return usagef("%s: %s cannot be %q: %s", path, key, v, why)
			}
		}
	}
	return nil
}

// configKeys reads a JSON object of values, and names a key that is there twice: the second would hide the first.
func configKeys(b []byte) (keys map[string]json.RawMessage, twice string, err error) {
	if err := json.Unmarshal(b, &keys); err != nil || keys == nil {
		return nil, "", errors.Join(errors.New("no object"), err)
	}
	seen := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.Token() // the opening brace: Unmarshal has read all of it
	for d.More() {
		key, _ := d.Token()
		if name, _ := key.(string); seen[name] {
			twice = name
		} else {
			seen[name] = true
		}
		var value json.RawMessage
		d.Decode(&value)
	}
	return keys, twice, nil
}

// configValues returns a JSON value as the words a flag would be given.
func configValues(raw json.RawMessage) ([]string, error) {
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
	}
	var words []string
	for _, r := range list {
		var s string
		switch {
		case json.Unmarshal(r, &s) == nil && string(r) != "null":
			words = append(words, s)
		case len(r) > 0 && r[0] != '{' && r[0] != '[' && string(r) != "null":
			words = append(words, string(r)) // a number, true or false
		default:
			return nil, fmt.Errorf("%s is neither a word nor a number", r)
		}
	}
	return words, nil
}

// error puts the name of the data before an error that came up after they were read, and the line before one about a cell.
func (d *dataFlags) error(ctx context.Context, path string, err error) error {
	var cell *latent.RowError
	var changed *data.CellError
	row := int64(0)
	switch {
	case errors.As(err, &cell):
		row = cell.Row
	case errors.As(err, &changed) && changed.Row > 0:
		row = changed.Row
	default:
		return fileError(cmp.Or(d.used.Name, path), err)
	}
	file, line, lost := data.Line(ctx, path, d.used, row)
	if lost != nil || line == 0 {
		return fileError(cmp.Or(d.used.Name, path), err)
	}
	return fmt.Errorf("%s:%d: %w", file, line, err)
}
