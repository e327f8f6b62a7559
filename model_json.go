package latent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/latent-go/latent/family"
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
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*t = Transform{Kind: raw.Kind, Center: floats(raw.Center), Scale: floats(raw.Scale)}
	return nil
}

func floats(v []number) []float64 {
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
	switch m.Kind {
	case "gmm":
		r.gmm(m)
	case "kmeans":
		m.Means = r.rows("centers")
		m.Sizes = r.optional("sizes")
	default:
		return fmt.Errorf("model: %q is not known; it must be gmm or kmeans", m.Kind)
	}
	r.rest(m)
	if r.err != nil {
		return r.err
	}
	return m.check()
}

// jsonError says on which line a file stops being JSON.
func jsonError(b []byte, err error) error {
	if s, ok := err.(*json.SyntaxError); ok {
		return fmt.Errorf("line %d: this is not JSON: %s", 1+bytes.Count(b[:min(int(s.Offset), len(b))], []byte("\n")), s)
	}
	return fmt.Errorf("this is not a JSON object: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// modelReader takes keys out of a model file one by one and keeps the first error.
type modelReader struct {
	keys map[string]json.RawMessage
	err  error
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
	err := json.Unmarshal(raw, into)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("a %s stands where %s belongs", wrong.Value, jsonName(wrong.Type.Kind()))
	}
	if err != nil {
		r.err = fmt.Errorf("%s: %s", key, strings.TrimPrefix(err.Error(), "json: "))
	}
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

func (r *modelReader) gmm(m *Model) {
	name := r.word("covariance")
	if r.err != nil {
		return
	}
	shape, err := family.ParseShape(name)
	if err != nil {
		r.err = fmt.Errorf("covariance: %w", err)
		return
	}
	m.Shape = shape
	m.Weights = r.numbers("weights")
	m.Means = r.rows("means")
	var all [][][]number // k matrices of d rows, down to the one number of the simplest shape
	switch shape {
	case family.Full:
		r.decode("covariances", &all)
	case family.Tied:
		all = make([][][]number, 1)
		r.decode("covariances", &all[0])
	case family.Diag:
		var rows [][]number
		r.decode("covariances", &rows)
		for i := range rows {
			all = append(all, rows[i:i+1])
		}
	case family.TiedDiag:
		all = [][][]number{make([][]number, 1)}
		r.decode("covariances", &all[0][0])
	case family.Spherical:
		var v []number
		r.decode("covariances", &v)
		for i := range v {
			all = append(all, [][]number{v[i : i+1]})
		}
	case family.TiedSpherical:
		all = [][][]number{{make([]number, 1)}}
		r.decode("covariances", &all[0][0][0])
	}
	m.Covariance = make([][]float64, len(all))
	for c, rows := range all {
		for j, row := range rows {
			if matrix(shape) && (len(rows) != len(m.Columns) || len(row) != len(m.Columns)) && r.err == nil {
				r.err = fmt.Errorf("covariances: row %d of matrix %d has %d numbers and there are %d rows, but there are %d columns", j+1, c+1, len(row), len(rows), len(m.Columns))
			}
			m.Covariance[c] = append(m.Covariance[c], floats(row)...)
		}
	}
}

// rest reads what is optional and refuses what is left.
func (r *modelReader) rest(m *Model) {
	if raw := r.keys["transform"]; raw != nil && string(raw) != "null" {
		r.decode("transform", &m.Transform)
	}
	for key, into := range map[string]any{"n": &m.N, "log_likelihood": &m.LogLik, "provenance": &m.Provenance} {
		if r.keys[key] != nil && string(r.keys[key]) != "null" {
			r.decode(key, into)
		}
	}
	m.Certificate, m.Spec = r.object("certificate"), r.object("spec")
	for _, key := range []string{"transform", "n", "log_likelihood", "provenance"} {
		delete(r.keys, key) // there, but null
	}
	if r.err == nil && len(r.keys) > 0 {
		names := make([]string, 0, len(r.keys))
		for k := range r.keys {
			names = append(names, k)
		}
		slices.Sort(names)
		r.err = fmt.Errorf("%s: this key is not known in a %s model of version %d", names[0], m.Kind, ModelVersion)
	}
}

// check refuses parameters that do not fit each other or are out of range.
func (m *Model) check() error {
	k, d := m.K(), m.D()
	means := map[string]string{"gmm": "means", "kmeans": "centers"}[m.Kind]
	switch {
	case d == 0:
		return fmt.Errorf("columns: there must be at least one")
	case k == 0:
		return fmt.Errorf("%s: there must be at least one", means)
	}
	for j, name := range m.Columns {
		if name == "" || slices.Index(m.Columns, name) < j {
			return fmt.Errorf("columns: number %d is %q; every column needs a name of its own", j+1, name)
		}
	}
	for c, row := range m.Means {
		if len(row) != d {
			return fmt.Errorf("%s: row %d has %d numbers, but there are %d columns", means, c+1, len(row), d)
		}
	}
	for i, t := range m.Transform {
		if t.Kind != "standard" && t.Kind != "robust" {
			return fmt.Errorf("transform: kind %q of number %d is not known; it must be standard or robust", t.Kind, i+1)
		}
		if len(t.Center) != d || len(t.Scale) != d {
			return fmt.Errorf("transform: center and scale of number %d must have %d numbers, as many as columns", i+1, d)
		}
		for j, s := range t.Scale {
			if !(s > 0) {
				return fmt.Errorf("transform: scale %d of number %d is %v; it must be positive", j+1, i+1, s)
			}
		}
	}
	if m.Kind == "kmeans" {
		if m.Sizes != nil && len(m.Sizes) != k {
			return fmt.Errorf("sizes: there are %d for %d centers", len(m.Sizes), k)
		}
		return nil
	}
	return m.checkGaussian()
}

func (m *Model) checkGaussian() error {
	k, d := m.K(), m.D()
	if len(m.Weights) != k {
		return fmt.Errorf("weights: there are %d for %d means", len(m.Weights), k)
	}
	sum := 0.0
	for c, w := range m.Weights {
		if !(w >= 0) {
			return fmt.Errorf("weights: number %d is %v; weights must not be negative", c+1, w)
		}
		sum += w
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("weights: they sum to %v, not to 1", sum)
	}
	if want := m.Shape.Count(k); len(m.Covariance) != want {
		return fmt.Errorf("covariances: there are %d, but %s covariances of %d components are %d", len(m.Covariance), m.Shape, k, want)
	}
	for c, cov := range m.Covariance {
		if err := checkCovariance(m.Shape, cov, d); err != nil {
			return fmt.Errorf("covariances: number %d %w", c+1, err)
		}
	}
	return nil
}

func checkCovariance(s family.Shape, cov []float64, d int) error {
	want := s.Size(d)
	if matrix(s) {
		want = d * d
	}
	if len(cov) != want {
		return fmt.Errorf("has %d numbers; a %s covariance of %d columns has %d", len(cov), s, d, want)
	}
	if matrix(s) {
		for j := range d {
			for l := range j {
				a, b := cov[j*d+l], cov[l*d+j]
				if math.Abs(a-b) > 1e-9*math.Sqrt(math.Abs(cov[j*d+j]*cov[l*d+l])) {
					return fmt.Errorf("is not symmetric: row %d, column %d holds %v and row %d, column %d holds %v", j+1, l+1, a, l+1, j+1, b)
				}
			}
		}
	}
	u := make([]float64, s.Size(d))
	if !(family.Gaussian{Shape: s}).Scale(u, pack(s, cov, d), d) {
		return fmt.Errorf("is not positive definite")
	}
	return nil
}

// MarshalJSON writes the model file: one key a line, one component a line.
func (m *Model) MarshalJSON() ([]byte, error) {
	w := &modelWriter{}
	w.key("format", "latent-model")
	w.key("version", ModelVersion)
	w.key("model", m.Kind)
	if m.Kind == "gmm" {
		w.key("covariance", m.Shape.String())
	}
	w.key("columns", m.Columns)
	if m.Kind == "gmm" {
		w.key("weights", m.Weights)
		w.lines("means", m.Means)
		w.covariances(m)
	} else {
		w.lines("centers", m.Means)
		if m.Sizes != nil {
			w.key("sizes", m.Sizes)
		}
	}
	transform := m.Transform
	if transform == nil {
		transform = []Transform{}
	}
	w.key("transform", transform)
	if m.N != nil {
		w.key("n", *m.N)
	}
	if m.LogLik != nil {
		w.key("log_likelihood", *m.LogLik)
	}
	if m.Certificate != nil {
		w.key("certificate", m.Certificate)
	}
	if m.Spec != nil {
		w.key("spec", m.Spec)
	}
	if m.Provenance != nil {
		w.key("provenance", m.Provenance)
	}
	return append(w.b.Bytes(), "\n}"...), w.err
}

// WriteTo writes the model file as MarshalJSON lays it out (json.Marshal would squeeze it into one line).
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	b, err := m.MarshalJSON()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(b, '\n'))
	return int64(n), err
}

type modelWriter struct {
	b   bytes.Buffer
	err error
}

func (w *modelWriter) open(key string) {
	if w.b.Len() == 0 {
		w.b.WriteString("{\n ")
	} else {
		w.b.WriteString(",\n ")
	}
	fmt.Fprintf(&w.b, "%q: ", key)
}

func (w *modelWriter) value(v any) {
	b, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.b.Write(b)
}

func (w *modelWriter) key(key string, v any) {
	w.open(key)
	w.value(v)
}

func (w *modelWriter) lines(key string, rows [][]float64) {
	w.open(key)
	for i, r := range rows {
		w.b.WriteString([]string{"[\n  ", ",\n  "}[min(i, 1)])
		w.value(r)
	}
	w.b.WriteString("\n ]")
}

func (w *modelWriter) covariances(m *Model) {
	w.open("covariances")
	all := make([]any, len(m.Covariance))
	for c, cov := range m.Covariance {
		all[c] = covarianceValue(m.Shape, cov, m.D())
	}
	if m.Shape.Shared() {
		w.value(all[0])
		return
	}
	for i, v := range all {
		w.b.WriteString([]string{"[\n  ", ",\n  "}[min(i, 1)])
		w.value(v)
	}
	w.b.WriteString("\n ]")
}

// covarianceValue returns a covariance as JSON shows it: a matrix, a list of variances or a number.
func covarianceValue(s family.Shape, cov []float64, d int) any {
	switch {
	case matrix(s):
		rows := make([][]float64, d)
		for j := range d {
			rows[j] = cov[j*d : j*d+d]
		}
		return rows
	case s == family.Spherical || s == family.TiedSpherical:
		return cov[0]
	}
	return cov
}
