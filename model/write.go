package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// MarshalJSON writes the model file: one key a line, one component a line.
func (m *Model) MarshalJSON() ([]byte, error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	w := &modelWriter{}
	w.key("format", "latent-model")
	w.key("version", ModelVersion)
	w.key("model", m.Kind)
	kd := m.kind()
	if m.IsChain() {
		w.key("emission", m.Emission)
	}
	if kd.HasShape(m.Types) {
		w.key("covariance", m.Shape.Stem())
	}
	w.key("columns", m.Columns)
	if kd.Parted {
		w.key("types", m.Types)
	}
	if m.IsChain() {
		w.chain(m)
	}
	if m.HasDensity() {
		w.key("weights", m.Weights)
	}
	for _, p := range m.Parts() {
		w.parameters(p.Model)
	}
	if m.Clusters != nil {
		w.key("clusters", m.Clusters)
	}
	if m.Noise != nil {
		w.key("noise", m.Noise)
	}
	if m.Posterior != nil {
		w.key("posterior", m.Posterior)
	}
	if m.Sizes != nil && !kd.Mixture {
		w.key("sizes", m.Sizes)
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
	if m.StandardErrors != nil {
		b, err := m.StandardErrors.marshal(true)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.key("standard_errors", json.RawMessage(b))
	}
	if m.Sums != nil {
		w.key("sums", m.Sums)
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

// parameters writes those of the components of a part, but for the weights.
func (w *modelWriter) parameters(m *Model) {
	kd := m.kind()
	if kd.Cells.Levels {
		w.key("levels", m.Levels)
		w.open(kd.Location.Key)
		for c := range m.Probabilities {
			w.b.WriteString([]string{"[\n  ", ",\n  "}[min(c, 1)])
			w.value(m.byLevel(c))
		}
		w.b.WriteString("\n ]")
	} else {
		w.lines(kd.Location.Key, m.locations())
	}
	switch {
	case m.Loadings != nil:
		w.factors(m)
	case kd.Shaped:
		w.covariances(m)
	}
	if kd.Tails {
		w.key("dof", m.Dof)
	}
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
	w.open(m.kind().Scales)
	all := make([]*Covariance, len(m.Covariance))
	for c, cov := range m.Covariance {
		all[c] = newCovariance(m.Shape, cov, m.dims())
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
