package latent

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

func mustFit(t *testing.T, src data.Source, spec Spec, see ...Observer) *Result {
	t.Helper()
	r, err := Fit(context.Background(), src, spec, see...)
	if err != nil {
		t.Fatal(err)
	}
	consistent(t, src, r)
	return r
}

// labelsOf returns the label, from 0, that the model gives to every row.
func labelsOf(t *testing.T, src data.Source, m *model.Model) (labels []int32) {
	t.Helper()
	if err := m.Rows(context.Background(), src, 2, func(s *model.Scored) error {
		labels = append(labels, s.Label...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return labels
}

// consistent fails unless what the result reports follows from its own model: labels are the nearest or likeliest,
// the objective is theirs, every row is counted once and nothing is NaN.
func consistent(t *testing.T, src data.Source, r *Result) {
	t.Helper()
	rows, noise := make([]int64, r.K), int64(0)
	total := 0.0
	var seen int64
	if err := r.Model.Rows(context.Background(), src, 1, func(s *model.Scored) error {
		for i, label := range s.Label {
			own := 0.0 // probability of the label
			if label < 0 {
				noise++
				own = s.Noise[i]
			} else {
				rows[label]++
				own = s.Responsibilities[i*s.K+int(label)]
			}
			if s.Noise != nil && s.Noise[i] > own {
				t.Errorf("row %d has label %d, but is noise with probability %v", s.First+int64(i), label, s.Noise[i])
			}
			w := 1.0
			if s.W != nil {
				w = s.W[i]
			}
			total += w * s.LogDensity[i]
			if v := s.LogDensity[i]; v != v || math.IsInf(v, 0) {
				t.Errorf("row %d scores %v", s.First+int64(i), v)
			}
			if r.Kind == "gmm" && own < slices.Max(s.Responsibilities[i*s.K:(i+1)*s.K]) {
				t.Errorf("row %d has label %d with responsibilities %v", s.First+int64(i), label, s.Responsibilities[i*s.K:(i+1)*s.K])
			}
			seen++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	objective := r.LogLik
	if r.Kind == "kmeans" {
		objective, total = r.Inertia, -total
	}
	if objective == nil || !(math.Abs(*objective-total) <= 1e-10*max(math.Abs(total), 1e-300)) {
		t.Errorf("objective %v, its own rows give %v", objective, total)
	}
	share := 0.0
	if r.Noise != nil {
		share = r.Noise.Weight
		if r.Noise.Rows != noise {
			t.Errorf("%d rows are counted as noise, %d have its label", r.Noise.Rows, noise)
		}
	} else if noise > 0 {
		t.Errorf("%d rows are noise of a model without", noise)
	}
	for c, x := range r.Components {
		if x.Rows != rows[c] {
			t.Errorf("component %d counts %d rows, %d carry its label", c, x.Rows, rows[c])
		}
		share += x.Weight
		for _, v := range x.Mean {
			if v-v != 0 {
				t.Errorf("component %d has mean %v", c, x.Mean)
			}
		}
		if c > 0 && x.Weight > r.Components[c-1].Weight {
			t.Errorf("component %d is heavier than the one before", c)
		}
	}
	if math.Abs(share-1) > 1e-12 {
		t.Errorf("weights add to %v", share)
	}
}

// sortedMeans returns the first coordinates of the means in ascending order.
func sortedMeans(r *Result) (m []float64) {
	for _, c := range r.Components {
		m = append(m, c.Mean[0])
	}
	slices.Sort(m)
	return m
}

// optimum is a fit of mclust.
type optimum struct {
	Model    string   `json:"model"`
	K        int      `json:"k"`
	LogLik   *float64 `json:"log_likelihood"`
	Free     int      `json:"free_parameters"`
	BIC      float64  `json:"bic"`
	Smallest float64  `json:"smallest_eigenvalue"`
}

// mclust returns the fits of mclust that are not degenerate.
func mclust(t *testing.T, name string) (good []optimum) {
	t.Helper()
	b, err := os.ReadFile("testdata/oracle/optimum/mclust-" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Fits []optimum `json:"fits"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for _, o := range file.Fits {
		if o.LogLik != nil && o.Smallest > 1e-6 {
			good = append(good, o)
		}
	}
	return good
}

// texts are the texts of warnings.
func texts(warnings []model.Warning) (list []string) {
	for _, w := range warnings {
		list = append(list, w.Text)
	}
	return list
}
