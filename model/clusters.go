package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/text"
)

// Clusters say which components of a mixture make one cluster, and how that was found.
type Clusters struct {
	Method string   `json:"method,omitempty"` // "overlap" (Hennig 2010) or "entropy" (Baudry and others 2010); empty where nobody has found them, but written them by hand
	Cutoff *float64 `json:"cutoff,omitempty"` // overlap: pairs that overlap less are not merged
	N      int      `json:"n"`                // clusters
	Of     []int    `json:"of_component"`     // the cluster of each component, both from 1, the heaviest first: Model.Clusters
	// Weights are the clusters' mixing weights, the sums of their components'; Rows the rows of positive weight that carry each label.
	Weights []float64 `json:"weights,omitempty"`
	Rows    []int64   `json:"rows,omitempty"`
	// Entropy is that of the responsibilities of the components, Σ w Σ_c -r_c ln r_c, in nats. An updated model has none, and no mergers: they were of the
	// rows before.
	Entropy *float64    `json:"entropy,omitempty"`
	Steps   []MergeStep `json:"steps,omitempty"` // overlap: the mergers that were made; entropy: all, down to one cluster
	Next    *MergeStep  `json:"next,omitempty"`  // overlap: the merger that would come next, whose overlap is below the cutoff
}

// MergeStep is one merger: the components of two clusters, from 1, become one.
type MergeStep struct {
	Clusters int      `json:"clusters"` // how many there are after it
	Joined   [2][]int `json:"joined"`
	Value    *float64 `json:"value,omitempty"`   // overlap: the larger share in which the two are taken for each other
	Entropy  *float64 `json:"entropy,omitempty"` // entropy: what is left of it after the merger, nats
}

// NumLabels returns how many labels rows can have: the clusters of a merged model, else the components.
func (m *Model) NumLabels() int {
	if len(m.Clusters) == 0 {
		return m.K()
	}
	return slices.Max(m.Clusters)
}

// LabelOf returns the label of component c, both from 0: its cluster in a merged model, else itself. That of the noise is -1.
func (m *Model) LabelOf(c int) int {
	if m.Clusters == nil || c < 0 {
		return c
	}
	return m.Clusters[c] - 1
}

// Members returns the components of each label, all from 0.
func (m *Model) Members() [][]int {
	of := make([][]int, m.NumLabels())
	for c := range m.K() {
		of[m.LabelOf(c)] = append(of[m.LabelOf(c)], c)
	}
	return of
}

// Unmerged returns the model whose labels are its components. It shares memory with m, and is m where no components are merged.
func (m *Model) Unmerged() *Model {
	if m.Clusters == nil {
		return m
	}
	own := *m
	own.Clusters = nil
	if m.Provenance != nil {
		p := *m.Provenance
		p.Clusters, p.Truth, p.Stability, own.Provenance = nil, nil, nil, &p // these are of clusters
	}
	return &own
}

// checkClusters checks that every component has a cluster, and every cluster a component.
func (m *Model) checkClusters() error {
	if m.Clusters == nil {
		return nil
	}
	if !m.HasDensity() {
		return fmt.Errorf("clusters: they are of the components of a mixture, and a %s model has centres", m.Kind)
	}
	if err := checkNumbered(m.Clusters, m.K()); err != nil {
		return fmt.Errorf("clusters: %w", err)
	}
	return nil
}

// checkNumbered wants a cluster for each of k components, and a component for each cluster from 1 on.
func checkNumbered(clusters []int, k int) error {
	if len(clusters) != k || k == 0 {
		return fmt.Errorf("%s for %s", text.There(len(clusters), "number"), text.Count(k, "component"))
	}
	for c, of := range clusters {
		if of < 1 || of > k {
			return fmt.Errorf("that of component %d is %d; it must be from 1 to %d", c+1, of, k)
		}
	}
	most := slices.Max(clusters)
	for of := 1; of <= most; of++ {
		if !slices.Contains(clusters, of) {
			return fmt.Errorf("no component is of cluster %d, but there is a cluster %d", of, most)
		}
	}
	return nil
}

// check wants clusters of k components, with what belongs to each and to the method by which they were found.
func (c *Clusters) check(k int) error {
	if err := checkNumbered(c.Of, k); err != nil {
		return fmt.Errorf("of_component: %w", err)
	}
	n := slices.Max(c.Of)
	overlap, entropy := c.Method == "overlap", c.Method == "entropy"
	switch {
	case c.N != n:
		return fmt.Errorf("n: it is %d, but of_component has %d", c.N, n)
	case len(c.Weights) != n:
		return fmt.Errorf("weights: there %s %d for %s", text.Form(len(c.Weights), "is", "are"), len(c.Weights), text.Count(n, "cluster"))
	case c.Rows != nil && len(c.Rows) != n:
		return fmt.Errorf("rows: there %s %d for %s", text.Form(len(c.Rows), "is", "are"), len(c.Rows), text.Count(n, "cluster"))
	case !overlap && !entropy:
		return fmt.Errorf("method: %q is not known; it must be overlap or entropy", c.Method)
	case c.Entropy == nil && (len(c.Steps) > 0 || c.Next != nil):
		return errors.New("entropy: this key is missing")
	case overlap != (c.Cutoff != nil):
		return errors.New("cutoff: it belongs to overlap, and overlap to it")
	}
	steps := c.Steps
	if c.Next != nil {
		steps = append(slices.Clone(steps), *c.Next)
	}
	for i, s := range steps {
		if (s.Value != nil) != overlap || (s.Entropy != nil) != entropy {
			return fmt.Errorf("steps: number %d needs %s, and nothing else", i+1, map[bool]string{true: "value", false: "entropy"}[overlap])
		}
	}
	return nil
}

// components returns the responsibilities of the components of row i.
func (s *Scored) components(i int) []float64 {
	k := len(s.ComponentResponsibilities) / s.N
	return s.ComponentResponsibilities[i*k : (i+1)*k]
}

// clustered tells of clusters what s tells of the components of a judge's model. Where components are not merged it is s.
func (j *judge) clustered(s *Scored) *Scored {
	s.Component, s.ComponentResponsibilities = s.Label, s.Responsibilities
	if j.clusters == nil {
		return s
	}
	all, k := &j.merged, s.K
	all.K, all.Block, all.LogDensity, all.Noise, all.Component, all.ComponentResponsibilities = slices.Max(j.clusters), s.Block, s.LogDensity, s.Noise, s.Component, s.ComponentResponsibilities
	all.Label = slices.Grow(all.Label[:0], s.N)[:s.N]
	all.Entropy = slices.Grow(all.Entropy[:0], s.N)[:s.N]
	all.Best = slices.Grow(all.Best[:0], s.N)[:s.N]
	all.Responsibilities = slices.Grow(all.Responsibilities[:0], s.N*all.K)[:s.N*all.K]
	clear(all.Responsibilities)
	for i := range s.N {
		r := all.Responsibilities[i*all.K : (i+1)*all.K]
		for c, v := range s.Responsibilities[i*k : (i+1)*k] {
			r[j.clusters[c]-1] += v
		}
		best, most, entropy := -1, math.Inf(-1), 0.0
		if s.Noise != nil {
			most, entropy = s.Noise[i], surprise(s.Noise[i])
		}
		for g, v := range r {
			if v > most {
				best, most = g, v
			}
			entropy += surprise(v)
		}
		all.Label[i], all.Entropy[i], all.Best[i] = int32(best), entropy, s.LogDensity[i]+math.Log(most)
	}
	return all
}

// surprise returns -p ln p.
func surprise(p float64) float64 {
	if p > 0 && p < 1 {
		return -p * math.Log(p)
	}
	return 0
}
