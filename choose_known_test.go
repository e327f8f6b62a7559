package latent

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
)

// known returns n rows in two columns from k round clusters of different sizes and widths. The centre of each is at 1 to
// 1.3 times apart from some other, in standard deviations of the wider, and no two are nearer.
func known(number uint64, n, k int, apart float64) *data.Table {
	u := rng.Uniforms(1000+number, 1000)
	next := func() float64 {
		v := u[0]
		u = u[1:]
		return v
	}
	var centres [][2]float64
	width, cumulated := make([]float64, k), make([]float64, k)
	total := 0.0
	for c := range k {
		width[c] = 0.7 + 0.6*next()
		total += 0.5 + next()
		cumulated[c] = total
	}
	for len(centres) < k {
		at := [2]float64{}
		if c := len(centres); c > 0 {
			from, angle := int(next()*float64(c)), 2*math.Pi*next()
			far := apart * (1 + 0.3*next()) * max(width[from], width[c])
			at = [2]float64{centres[from][0] + far*math.Cos(angle), centres[from][1] + far*math.Sin(angle)}
		}
		free := true
		for c, o := range centres {
			free = free && math.Hypot(at[0]-o[0], at[1]-o[1]) >= apart*max(width[c], width[len(centres)])*(1-1e-9)
		}
		if free {
			centres = append(centres, at)
		}
	}
	z, pick := rng.Normals(2000+number, 2*n), rng.Uniforms(3000+number, n)
	x := make([]float64, 2*n)
	for i := range n {
		c := 0
		for pick[i]*total > cumulated[c] {
			c++
		}
		x[2*i], x[2*i+1] = centres[c][0]+width[c]*z[2*i], centres[c][1]+width[c]*z[2*i+1]
	}
	return fixtures.Table(2, x...)
}

var knownSets = flag.Int("sets", 12, "how many sets of known clusters the criteria are tried on; the table of docs/choosing.md is of 100")

// Sets of 2 to 8 clusters: how often each criterion finds how many there are. What none can find, clusters closer
// than two standard deviations that have one mode between them, is in the table too; what is apart must be found.
func TestHowOftenEachCriterionFindsK(t *testing.T) {
	t.Parallel()
	sets := *knownSets
	if testing.Short() {
		sets = 1
	}
	apart := []float64{1.5, 2.5, 4, 7}
	criteria := []string{"bic", "aic", "icl", "silhouette", "k-means silhouette", "k-means gap", "k-means elbow"}
	right, of := map[string][]int{}, make([]int, len(apart))
	for _, c := range criteria {
		right[c] = make([]int, len(apart))
	}
	for i := range sets {
		k, level := 2+i%7, i%len(apart)
		of[level]++
		src := known(uint64(i), 500, k, apart[level])
		mix := mustFit(t, src, Spec{KRange: [2]int{1, 10}, Criterion: "silhouette"})
		fits := []*Result{mix}
		for _, c := range []string{"silhouette", "gap", "elbow"} {
			fits = append(fits, mustFit(t, src, Spec{KRange: [2]int{1, 10}, Model: "kmeans", Criterion: c}))
		}
		for _, r := range fits {
			if !r.Converged || math.IsNaN(r.Candidates[0].Value("bic")) && r.Kind == "gmm" {
				t.Errorf("set %d, %s: not finished", i, r.Kind)
			}
			for _, x := range r.Components {
				if x.AtFloor {
					t.Errorf("set %d, %s: a degenerate candidate won", i, r.Kind)
				}
			}
			for _, c := range criteria {
				by, simple := strings.CutPrefix(c, "k-means ")
				if simple != (r.Kind == "kmeans") || simple && by != r.Choice.Criterion {
					continue
				}
				found, best := 0, math.Inf(1)
				if simple {
					found = r.K
				}
				for _, x := range r.Candidates {
					v := x.Value(by)
					if by == "silhouette" {
						v = -v
					}
					if !simple && !x.AtFloor && v < best {
						found, best = x.K, v
					}
				}
				if found == k {
					right[c][level]++
				}
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-20s", "apart")
	for level, a := range apart {
		fmt.Fprintf(&table, "  %4.1f (%d)", a, of[level])
	}
	for _, c := range criteria {
		fmt.Fprintf(&table, "\n%-20s", c)
		for _, n := range right[c] {
			fmt.Fprintf(&table, "  %8d", n)
		}
	}
	t.Log("\n" + table.String())
	far := len(apart) - 1
	for _, c := range []string{"bic", "icl", "silhouette"} {
		if right[c][far] < of[far]-of[far]/10-1 {
			t.Errorf("%s finds k in %d of %d sets of clusters that are apart", c, right[c][far], of[far])
		}
	}
}
