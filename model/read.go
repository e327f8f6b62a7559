package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// number is a float64 that must be there: JSON's null is refused.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return fmt.Errorf("a number is missing (null)")
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("%s is not a finite number", b)
	}
	*n = number(v)
	return nil
}

// UnmarshalJSON reads a transform, whose numbers must all be there.
func (t *Transform) UnmarshalJSON(b []byte) error {
	var raw struct {
		Kind          string
		Center, Scale []number
		Threshold     *number

		Mean, Explained []number
		Components      [][]number
		Columns         []string
		Origin          string
	}
	if err := strictly(b, &raw); err != nil {
		return err
	}
	*t = Transform{Kind: raw.Kind, Center: floats(raw.Center), Scale: floats(raw.Scale), Mean: floats(raw.Mean), Explained: floats(raw.Explained), Columns: raw.Columns, Origin: raw.Origin}
	for _, axis := range raw.Components {
		t.Components = append(t.Components, floats(axis))
	}
	if raw.Threshold != nil {
		t.Threshold = new(float64(*raw.Threshold))
	}
	return nil
}

func floats(v []number) []float64 {
	if v == nil {
		return nil
	}
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = float64(x)
	}
	return f
}

// UnmarshalJSON reads a model file. An unknown key, a newer version, a shape that does not fit or a parameter outside
// its range is an error that names the key.
func (m *Model) UnmarshalJSON(b []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		return jsonError(b, err)
	}
	r := &modelReader{keys: keys}
	if format := r.word("format"); r.err == nil && format != "latent-model" {
		return fmt.Errorf("format: %q is not \"latent-model\"; this is not a model file", format)
	}
	var version int
	r.decode("version", &version)
	switch {
	case r.err == nil && version > ModelVersion:
		return fmt.Errorf("version: %d is not known here (the newest is %d); use a newer latent", version, ModelVersion)
	case r.err == nil && version < 1:
		return fmt.Errorf("version: %d does not exist; the newest is %d", version, ModelVersion)
	}
	*m = Model{Kind: r.word("model")}
	r.decode("columns", &m.Columns)
	if r.err != nil {
		return r.err
	}
	if len(m.Columns) == 0 {
		return errors.New("columns: there must be at least one")
	}
	if m.IsChain() {
		r.chain(m)
		if r.err != nil {
			return r.err
		}
	}
	kd := m.kind()
	if kd == nil {
		return fmt.Errorf("model: %s", unknownName(m.Kind))
	}
	r.transform(m)
	switch {
	case kd.Parted:
		r.parts(m)
	case kd.Shaped:
		r.shaped(m, kd)
	case kd.Cells.Levels:
		r.levels(m)
	case kd.Mixture:
		r.weights(m)
		m.setLocations(r.rows(kd.Location.Key))
	default:
		m.setLocations(r.rows(kd.Location.Key))
		m.Sizes = r.optional("sizes")
	}
	if raw := r.take("clusters"); raw != nil && string(raw) != "null" && r.err == nil {
		if err := strictly(raw, &m.Clusters); err != nil {
			r.err = fmt.Errorf("clusters: %w", err)
		}
	}
	if kd.Noise && !m.IsChain() && r.keys["noise"] != nil && string(r.keys["noise"]) != "null" {
		r.decode("noise", &m.Noise)
	}
	r.rest(m)
	if r.err != nil {
		return r.err
	}
	if err := m.check(); err != nil {
		return err
	}
	if err := m.checkPosterior(); err != nil {
		return err
	}
	if r.errors != nil {
		if err := m.readStandardErrors(r.errors); err != nil {
			return fmt.Errorf("standard_errors: %w", err)
		}
	}
	if err := m.checkSums(); err != nil {
		return fmt.Errorf("sums: %w", err)
	}
	return m.checkTold()
}

// jsonError says on which line a file stops being JSON.
func jsonError(b []byte, err error) error {
	if s, ok := err.(*json.SyntaxError); ok {
		return fmt.Errorf("line %d: this is not JSON: %s", 1+bytes.Count(b[:min(int(s.Offset), len(b))], []byte("\n")), s)
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s stands where the object of a model belongs", jsonFound(wrong.Value))
	}
	return fmt.Errorf("this is not a JSON object: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// modelReader takes keys out of a model file one by one and keeps the first error.
type modelReader struct {
	keys   map[string]json.RawMessage
	errors json.RawMessage // standard errors, which are read when the parameters are checked
	err    error
}

func (r *modelReader) take(key string) json.RawMessage {
	v := r.keys[key]
	delete(r.keys, key)
	return v
}

// decode reads a key that must be there.
func (r *modelReader) decode(key string, into any) {
	raw := r.take(key)
	if r.err != nil {
		return
	}
	if raw == nil || string(raw) == "null" {
		r.err = fmt.Errorf("%s: this key is missing", key)
		return
	}
	if err := strictly(raw, into); err != nil {
		r.err = fmt.Errorf("%s: %w", key, err)
	}
}

// jsonFound says what stands in a file, where encoding/json calls it an array, a bool, a number, an object, a string, or a number and its text.
func jsonFound(value string) string {
	switch value {
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "object":
		return "an object"
	case "string":
		return "a text"
	case "number":
		return "a number"
	}
	return "the " + value
}

// jsonName says in the words of JSON what a Go kind is read from.
func jsonName(k reflect.Kind) string {
	switch k {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	}
	return "a number"
}

// object takes an optional key that holds an object.
func (r *modelReader) object(key string) json.RawMessage {
	raw := r.take(key)
	if raw == nil || string(raw) == "null" {
		return nil
	}
	if raw[0] != '{' && r.err == nil {
		r.err = fmt.Errorf("%s: this must be an object", key)
	}
	return raw
}

func (r *modelReader) word(key string) (s string) {
	r.decode(key, &s)
	return s
}

func (r *modelReader) numbers(key string) []float64 {
	var v []number
	r.decode(key, &v)
	return floats(v)
}

// optional reads a list of numbers that may be absent.
func (r *modelReader) optional(key string) []float64 {
	if r.keys[key] == nil || string(r.keys[key]) == "null" {
		delete(r.keys, key)
		return nil
	}
	return r.numbers(key)
}

func (r *modelReader) rows(key string) [][]float64 {
	var v [][]number
	r.decode(key, &v)
	rows := make([][]float64, len(v))
	for i := range v {
		rows[i] = floats(v[i])
	}
	return rows
}

// weights reads mixing weights, unless they are there.
func (r *modelReader) weights(m *Model) {
	if m.Weights == nil {
		m.Weights = r.numbers("weights")
	}
}

// levels reads levels and their probabilities, which the file holds as one list a component, column and level.
func (r *modelReader) levels(m *Model) {
	r.weights(m)
	if r.decode("levels", &m.Levels); len(m.Levels) != m.D() && r.err == nil {
		r.err = fmt.Errorf("levels: %s for %s", text.There(len(m.Levels), "list"), text.Count(m.D(), "column"))
	}
	var all [][][]number
	r.decode("probabilities", &all)
	for c, columns := range all {
		var flat []float64
		for j, p := range columns {
			if (len(columns) != len(m.Levels) || len(p) != len(m.Levels[j])) && r.err == nil {
				r.err = fmt.Errorf("probabilities: component %d does not have a number for each level of each column", c+1)
			}
			flat = append(flat, floats(p)...)
		}
		m.Probabilities = append(m.Probabilities, flat)
	}
}

// parts reads the types of the columns, and the parameters of those of each type.
func (r *modelReader) parts(m *Model) {
	var names []string
	r.decode("types", &names)
	for j, name := range names {
		t, err := data.ParseType(name)
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("types: number %d: %w", j+1, err)
		}
		m.Types = append(m.Types, t)
	}
	if len(m.Types) != len(m.Columns) && r.err == nil {
		r.err = fmt.Errorf("types: %s for %s", text.There(len(m.Types), "type"), text.Count(len(m.Columns), "column"))
	}
	r.weights(m)
	if r.err != nil {
		return
	}
	parts := m.Parts()
	for _, p := range parts {
		switch kd := p.kind(); {
		case kd.Shaped:
			r.shaped(p.Model, m.kind())
		case kd.Cells.Levels:
			p.Levels = nil
			r.levels(p.Model)
			if r.err != nil {
				return
			}
			m.Levels = make([][]string, len(m.Columns))
			for i, j := range p.Columns {
				if changes := m.Changes(); changes != nil {
					j = changes.From()[j]
				}
				m.Levels[j] = p.Levels[i]
			}
		default:
			p.setLocations(r.rows(kd.Location.Key))
		}
	}
	m.setParts(parts)
}

// shaped reads means and covariances, or scales and degrees of freedom, of a model or of the numbers of one of such a kind.
func (r *modelReader) shaped(m *Model, file *kind.Kind) {
	name := r.word("covariance")
	if r.err != nil {
		return
	}
	kd := m.kind()
	shape, factors := family.ParseStem(name)
	if !factors {
		var err error
		if shape, err = family.ParseShape(name); err != nil {
			r.err = fmt.Errorf("covariance: %w", err)
			return
		}
	}
	switch {
	case (factors || shape.Factors() > 0) && !file.Factors:
		r.err = fmt.Errorf("covariance: it is %s, which is for %s models; a %s model has a shape without factors", name, kind.Gaussian.Name, file.Name)
		return
	case shape.Factors() > 0:
		r.err = fmt.Errorf("covariance: it is %s; the loadings say how many factors there are, so that it must be %s", name, shape.Stem())
		return
	}
	m.Shape = shape
	r.weights(m)
	m.Means = r.rows("means")
	if factors {
		r.factors(m)
		return
	}
	m.Covariance = r.matrices(kd.Scales, m)
	if kd.Tails {
		m.Dof = r.numbers("dof")
	}
}

// matrices reads what is laid out as the covariances of the model: row-major numbers, one list for each.
func (r *modelReader) matrices(key string, m *Model) [][]float64 {
	var all [][][]number // k matrices of d rows, down to the one number of the simplest shape
	switch shape := m.Shape; shape {
	case family.Tied:
		all = make([][][]number, 1)
		r.decode(key, &all[0])
	case family.Diag, family.TiedShapeDiag, family.TiedVolumeDiag:
		var rows [][]number
		r.decode(key, &rows)
		for i := range rows {
			all = append(all, rows[i:i+1])
		}
	case family.TiedDiag:
		all = [][][]number{make([][]number, 1)}
		r.decode(key, &all[0][0])
	case family.Spherical:
		var v []number
		r.decode(key, &v)
		for i := range v {
			all = append(all, [][]number{v[i : i+1]})
		}
	case family.TiedSpherical:
		all = [][][]number{{make([]number, 1)}}
		r.decode(key, &all[0][0][0])
	default:
		r.decode(key, &all)
	}
	d, unit := m.dims(), "columns"
	if m.PCA() != nil {
		unit = "components of the transform"
	}
	list := make([][]float64, len(all))
	for c, rows := range all {
		for j, row := range rows {
			if m.Shape.Matrix() && (len(rows) != d || len(row) != d) && r.err == nil {
				r.err = fmt.Errorf("%s: row %d of matrix %d has %d numbers and %s, but there are %d %s", key, j+1, c+1, len(row), text.There(len(rows), "row"), d, unit)
			}
			list[c] = append(list[c], floats(row)...)
		}
	}
	return list
}

// transform reads what is done to a row first, which decides how many numbers a mean has.
func (r *modelReader) transform(m *Model) {
	if raw := r.keys["transform"]; raw != nil && string(raw) != "null" {
		r.decode("transform", &m.Transform)
		if list, _ := ChangesOf(m.Transform); r.err == nil && (m.PCA() != nil || list != nil) {
			r.err = m.checkTransform()
		}
	}
}

// rest reads what is optional and refuses what is left.
func (r *modelReader) rest(m *Model) {
	for _, o := range []struct {
		key  string
		into any
	}{{"n", &m.N}, {"log_likelihood", &m.LogLik}, {"provenance", &m.Provenance}, {"sums", &m.Sums}} {
		if r.keys[o.key] != nil && string(r.keys[o.key]) != "null" {
			r.decode(o.key, o.into)
		}
	}
	if m.kind().Shaped && !m.kind().Parted && !m.IsChain() {
		r.posterior(m)
	}
	m.Certificate, m.Spec, r.errors = r.object("certificate"), r.object("spec"), r.object("standard_errors")
	for _, key := range []string{"transform", "n", "log_likelihood", "provenance", "sums"} {
		delete(r.keys, key) // there, but null
	}
	if r.err == nil && len(r.keys) > 0 {
		names := make([]string, 0, len(r.keys))
		for k := range r.keys {
			names = append(names, k)
		}
		slices.Sort(names)
		r.err = fmt.Errorf("%s: this key is not known in %s (version %d)", names[0], m.called(), ModelVersion)
	}
}
