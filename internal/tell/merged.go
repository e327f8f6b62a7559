package tell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Merged says by what the components of a result were merged into clusters, and which. It is empty where its components were not to be merged.
func Merged(r *latent.Result) string {
	c := r.Clusters
	if c == nil {
		return ""
	}
	var sets []string
	for _, list := range r.Model.Members() {
		if len(list) > 1 {
			sets = append(sets, text.List(Components(list), "and"))
		}
	}
	by := "Components are merged by hand"
	switch {
	case c.Cutoff != nil && sets == nil:
		return fmt.Sprintf("No two components overlap by %s or more: none are merged.", text.Significant(*c.Cutoff, 0))
	case c.Cutoff != nil:
		by = fmt.Sprintf("Components that overlap by %s or more are merged", text.Significant(*c.Cutoff, 0))
	case c.Method != "" && sets == nil:
		return "Each component is a cluster: none are merged."
	case c.Method != "":
		by = "Components are merged by " + c.Method
	case sets == nil:
		return "Each component is a cluster."
	}
	if c.N == 1 {
		return by + ": all of them."
	}
	return by + ": " + strings.Join(sets, "; ") + "."
}

// Opening is Finding and, where components were to be merged, Merged.
func Opening(r *latent.Result) string {
	return strings.TrimSpace(Finding(r) + " " + Merged(r))
}

// Components returns the numbers, from 1, of components from 0.
func Components(list []int) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = strconv.Itoa(c + 1)
	}
	return names
}

// Part is what a component of r is called: a group, of a hidden Markov model a state, and where components are merged a component.
func Part(r *latent.Result) string {
	return kind.PartNoun(r.Transitions != nil, r.Clusters != nil)
}

// Label is what a label of r stands for: a group, of a hidden Markov model a state, and where components are merged a cluster.
func Label(r *latent.Result) string {
	return kind.LabelNoun(r.Transitions != nil, r.Clusters != nil)
}

// Rows is how many rows a group of a result has; "-" where nobody has counted.
func Rows(r *latent.Result, group *model.Component) string {
	if r.Rows == 0 || r.Clusters != nil && r.Clusters.Rows == nil {
		return "-"
	}
	return text.Thousands(group.Rows)
}

// groups counts the groups of a result: its components or, where they are merged, its clusters.
func groups(r *latent.Result) string {
	if r.Clusters == nil {
		return text.Count(r.K, Part(r))
	}
	return text.Count(r.Clusters.N, "cluster") + " of " + text.Count(r.K, "component")
}
