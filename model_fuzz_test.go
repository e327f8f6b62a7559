package latent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// FuzzModel: whatever is in a model file, reading it gives an error or a model that can be used and written again to
// the same bytes.
func FuzzModel(f *testing.F) {
	files, _ := filepath.Glob("testdata/model/*.json")
	if len(files) == 0 {
		f.Fatal("no model files to start from")
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, b := range fixtures.ModelFiles() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := new(model.Model)
		if json.Unmarshal(b, m) != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatalf("a model that was read cannot be used: %v", err)
		}
		if _, err := json.Marshal(Told(m)); err != nil {
			t.Fatalf("what a model tells is no JSON: %v", err)
		}
		useModel(t, m)
		var first, second bytes.Buffer
		if _, err := m.WriteTo(&first); err != nil {
			t.Fatal(err)
		}
		again := new(model.Model)
		if err := json.Unmarshal(first.Bytes(), again); err != nil {
			t.Fatalf("cannot be read back: %v\n%s", err, first.Bytes())
		}
		if _, err := again.WriteTo(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("written twice, two files (%v):\n%s\n%s", err, first.Bytes(), second.Bytes())
		}
	})
}

// useModel does with a model what the command does: it labels and scores rows, measures distances, draws a row, exports it and
// starts a fit from it.
func useModel(t *testing.T, m *model.Model) {
	d := m.D()
	if d > 64 || m.K() > 64 {
		return
	}
	rows := &data.Table{N: 3, D: d, F64: make([]float64, 3*d)}
	for j, place := range m.Places() {
		if rows.F64[d+j], rows.F64[2*d+j] = 1, float64(j%2); place.Scale != "" { // numbers that all scales take
			rows.F64[j], rows.F64[d+j], rows.F64[2*d+j] = 0.25, 0.5, float64(1+j%2)/4
		}
	}
	distances, _ := m.Distances() // some kinds have none
	err := m.Rows(context.Background(), rows, 1, func(s *model.Scored) error {
		for i, c := range s.Label {
			if c < 0 || int(c) >= m.K() || m.HasDensity() && m.Weights[c] == 0 && !m.IsChain() {
				t.Errorf("row %d has label %d of %d", i, c, m.K())
			}
		}
		if distances != nil {
			distances(make([]float64, s.N), s)
		}
		return nil
	})
	if err != nil && kind.Of(m.ComponentKind()).Cells.Wrong == nil { // others may lack the level that a row has
		t.Errorf("rows cannot be labelled: %v", err)
	}
	if s, err := m.Sampler(1); err == nil {
		s.Draw(make([]float64, d))
	}
	told := 0
	err = m.Forecast(context.Background(), rows, 2, 1, func(*model.Forecast) error { told++; return nil })
	if err == nil && (!m.IsChain() || told != 2) {
		t.Errorf("%d forecasts: %v", told, err)
	}
	if _, err := m.Arrays(); (err == nil) != (m.Noise == nil) { // which other tools do not know
		t.Errorf("it cannot be exported, or can with noise: %v", err)
	}
	spec := Spec{Model: m.Kind, Emission: m.Emission, K: m.K(), Columns: m.Columns, Levels: m.Levels, Init: "model", Given: m, MaxIter: new(1), Threads: 1}
	if kind.Of(m.ComponentKind()).Shaped {
		spec.Covariance = m.Shape.String()
	}
	if m.Noise != nil {
		spec.Noise = "auto"
	}
	_, _ = Fit(context.Background(), rows, spec) // these rows may not do for it: that is an error, and no panic
}
