package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/text"
)

// strictly decodes JSON and refuses keys that into does not have, at any depth.
func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return plainJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows after the value")
	}
	return nil
}

// embedded matches the names of embedded structs in the path of a field, which are no keys.
var embedded = regexp.MustCompile(`\b[A-Z]\w*\.`)

// plainJSON says what is wrong with a value in the words of JSON.
func plainJSON(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		at := ""
		if wrong.Field != "" {
			at = embedded.ReplaceAllString(wrong.Field, "") + ": "
		}
		return fmt.Errorf("%s%s stands where %s belongs", at, jsonFound(wrong.Value), jsonName(wrong.Type.Kind()))
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if key, ok := strings.CutPrefix(text, "unknown field "); ok {
		return fmt.Errorf("the key %s is not known", key)
	}
	return errors.New(text)
}

// checkTold refuses what a file cannot tell of a fit: numbers of things below 0, and parts without those that they belong to.
func (m *Model) checkTold() error {
	if m.N != nil && *m.N < 0 {
		return fmt.Errorf("n: it is %d; a number of rows is not negative", *m.N)
	}
	if m.Certificate != nil {
		var c Certificate
		if err := strictly(m.Certificate, &c); err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
	}
	if m.Spec != nil {
		if err := strictly(m.Spec, new(asked)); err != nil {
			return fmt.Errorf("spec: %w", err)
		}
	}
	if m.Provenance != nil {
		if err := m.Provenance.check(m.K(), m.NumLabels(), m.D(), m.HasDensity()); err != nil {
			return fmt.Errorf("provenance: %w", err)
		}
	}
	return nil
}

// check wants a distance with what belongs to it.
func (c *Certificate) check() error {
	switch {
	case c.DistanceSE != nil && (c.Remaining == nil || c.Method == nil):
		return errors.New("distance_se needs remaining_log_likelihood and method beside it")
	case c.DistanceSE != nil && *c.DistanceSE < 0:
		return fmt.Errorf("distance_se: it is %v; a distance is not negative", *c.DistanceSE)
	case c.Remaining != nil && *c.Remaining < 0:
		return fmt.Errorf("remaining_log_likelihood: it is %v; it must not be negative", *c.Remaining)
	}
	return notNegative("saddles_escaped", c.Saddles)
}

// notNegative wants whole numbers, each after its name, that count something.
func notNegative(named ...any) error {
	for i := 0; i < len(named); i += 2 {
		var n int64
		switch v := named[i+1].(type) {
		case int:
			n = int64(v)
		case int64:
			n = v
		}
		if n < 0 {
			return fmt.Errorf("%s: it is %d; it must not be negative", named[i], n)
		}
	}
	return nil
}

// check wants what a fit of k components, with so many labels, can have come to.
func (p *Provenance) check(k, labels, d int, density bool) error {
	s := &p.Starts
	err := notNegative("rows", p.Rows, "dropped_rows", p.Dropped, "free_parameters", p.FreeParameters, "iterations", p.Iterations, "sweeps", p.Sweeps, "sweeps_total", p.SweepsTotal,
		"moves_kept", p.Moves, "starts.n", s.N, "starts.distinct_optima", s.DistinctOptima, "starts.outraced", s.Pruned, "starts.agree_with_best", s.AgreeWithBest, "starts.drawn_from", s.DrawnFrom)
	if err == nil && s.Moves != nil {
		err = notNegative("starts.moves.tried", s.Moves.Tried, "starts.moves.kept", s.Moves.Kept)
	}
	for _, n := range p.GroupRows {
		if err == nil {
			err = notNegative("component_rows", n)
		}
	}
	switch {
	case err != nil:
		return err
	case p.TotalWeight < 0:
		return fmt.Errorf("weight_total: it is %v; a sum of row weights is not negative", p.TotalWeight)
	case s.AgreeWithBest > s.N:
		return fmt.Errorf("starts.agree_with_best: it is %d, but there %s", s.AgreeWithBest, text.Form(s.N, "was ", "were ")+text.Count(s.N, "start"))
	case p.GroupRows != nil && len(p.GroupRows) != k:
		return fmt.Errorf("component_rows: there %s %d for %s", text.Form(len(p.GroupRows), "is", "are"), len(p.GroupRows), text.Count(k, "component"))
	case p.AtFloor != nil && len(p.AtFloor) != k:
		return fmt.Errorf("at_floor: there %s %d for %s", text.Form(len(p.AtFloor), "is", "are"), len(p.AtFloor), text.Count(k, "component"))
	case p.ColumnSD != nil && len(p.ColumnSD) != d:
		return fmt.Errorf("column_sd: there %s %d for %s", text.Form(len(p.ColumnSD), "is", "are"), len(p.ColumnSD), text.Count(d, "column"))
	case slices.ContainsFunc(p.ColumnSD, func(v float64) bool { return v < 0 }):
		return fmt.Errorf("column_sd: it is %v; a standard deviation is not negative", p.ColumnSD[slices.IndexFunc(p.ColumnSD, func(v float64) bool { return v < 0 })])
	case density && (p.Inertia != nil || p.Penalty != nil || p.Objective != nil):
		return errors.New("inertia, penalty and objective are of kmeans and kmedians; a mixture has none")
	case p.Objective != nil && (p.Inertia == nil || p.Penalty == nil):
		return errors.New("objective needs inertia and penalty beside it")
	}
	if (p.LogPrior != nil || p.LogPosterior != nil) && p.Prior == nil {
		return errors.New("log_prior and log_posterior need prior beside them")
	}
	if p.Prior != nil {
		if err := p.Prior.check(); err != nil {
			return fmt.Errorf("prior: %w", err)
		}
	}
	if p.Stability != nil {
		if err := p.Stability.check(labels); err != nil {
			return fmt.Errorf("stability: %w", err)
		}
	}
	if p.Clusters != nil {
		if err := p.Clusters.check(k); err != nil {
			return fmt.Errorf("clusters: %w", err)
		}
	}
	if p.Update != nil {
		if err := p.Update.check(); err != nil {
			return fmt.Errorf("update: %w", err)
		}
	}
	if p.LRT != nil {
		if err := p.LRT.check(); err != nil {
			return fmt.Errorf("lrt: %w", err)
		}
	}
	return nil
}

// check wants replicates with what they came to, of k groups.
func (s *Stability) check(k int) error {
	err := notNegative("replicates", s.Replicates, "done", s.Done, "failed", s.Failed)
	for _, g := range s.Groups {
		if err == nil {
			err = notNegative("groups.recovered", g.Recovered, "groups.dissolved", g.Dissolved)
		}
	}
	for _, c := range s.Choices {
		if err == nil {
			err = notNegative("choices.k", c.K, "choices.times", c.Times)
		}
	}
	switch {
	case err != nil:
		return err
	case s.Done > 0 && (s.ARI == nil || s.ARILow == nil):
		return fmt.Errorf("done: it is %d, but ari and ari_low are not there", s.Done)
	case s.Done > 0 && len(s.Groups) != k || len(s.Groups) != 0 && len(s.Groups) != k:
		return fmt.Errorf("groups: there %s %d for %d components", text.Form(len(s.Groups), "is", "are"), len(s.Groups), k)
	}
	return nil
}

// check wants a p-value to be one of a statistic.
func (t *LRT) check() error {
	switch {
	case t.P != nil && t.Statistic == nil:
		return errors.New("p needs statistic beside it")
	case t.P != nil && !(*t.P >= 0 && *t.P <= 1):
		return fmt.Errorf("p: it is %v; it must be from 0 to 1", *t.P)
	}
	return notNegative("k", t.K, "against", t.Against, "replicates", t.Replicates, "done", t.Done, "reached", t.Reached, "failed", t.Failed)
}

// asked is how "spec" is laid out: what latent.Spec was given, in its own words.
type asked struct {
	Model       string    `json:"model"`
	Emission    string    `json:"emission"`
	K           int       `json:"k"`
	KRange      [2]int    `json:"k_range"`
	Covariance  string    `json:"covariance"`
	Dof         string    `json:"dof"`
	Criterion   string    `json:"criterion"`
	Algorithm   string    `json:"algorithm"`
	Beta        []float64 `json:"beta"`
	BetaSteps   int       `json:"beta_steps"`
	BatchSize   int       `json:"batch_size"`
	Penalty     *float64  `json:"penalty"`
	Binarize    *float64  `json:"binarize"`
	Noise       string    `json:"noise"`
	Weights     string    `json:"weights"`
	Init        string    `json:"init"`
	NInit       int       `json:"n_init"`
	MaxIter     *int      `json:"max_iter"`
	Tol         *float64  `json:"tol"`
	TolLogLik   float64   `json:"tol_loglik"`
	TolShift    float64   `json:"tol_shift"`
	Seed        *uint64   `json:"seed"`
	RegCovar    float64   `json:"reg_covar"`
	Prior       *Prior    `json:"prior"`
	Missing     string    `json:"missing"`
	Scale       string    `json:"scale"`
	Transform   string    `json:"transform"`
	PCA         int       `json:"pca"`
	Merge       string    `json:"merge"`
	Bootstrap   int       `json:"bootstrap"`
	LRT         int       `json:"lrt"`
	AllowLong   bool      `json:"allow_long"`
	KeepSums    bool      `json:"keep_sums"`
	ColumnNames []string  `json:"column_names"`
	Threads     int       `json:"threads"`

	Concentration *float64 `json:"concentration"`
}
