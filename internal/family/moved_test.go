package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Moments about other means are those that a loop over the rows gives.
func TestMovedMomentsAreThoseOfALoop(t *testing.T) {
	const n, d, k = 20, 3, 2
	rng := rand.New(rand.NewPCG(1, 2))
	p := &family.Panel{N: n, D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
	r := make([]float64, k*kern.Rows)
	for i := range n {
		p.W[i] = 1
		for j := range d {
			p.X[j*kern.Rows+i] = 1e3 + rng.NormFloat64()
		}
		for c := range k {
			r[c*kern.Rows+i] = rng.Float64()
		}
	}
	for _, shape := range []family.Shape{family.Full, family.Tied, family.Diag, family.TiedDiag, family.Spherical, family.TiedSpherical} {
		g := family.Gaussian{Shape: shape, Var: []float64{1, 1, 1}}
		from, to := make([]float64, g.Params(k, d)), make([]float64, g.Params(k, d))
		for i := range k * d {
			from[i], to[i] = 1e3+rng.NormFloat64(), 1e3+rng.NormFloat64()
		}
		s := family.NewStats(k, d, g.Sums(k, d), 0)
		g.Bind(from, k, d).Add(s, p, slices.Clone(r), family.NewWorkspace(d))
		family.Move(g, s, to, from)

		want := make([]float64, g.Params(k, d))
		for c := range k {
			q := want[k*d:]
			if !shape.Shared() {
				q = q[c*shape.Size(d):]
			}
			for i := range n {
				w, off := r[c*kern.Rows+i], make([]float64, d)
				for j := range off {
					off[j] = p.X[j*kern.Rows+i] - to[c*d+j]
					want[c*d+j] += w * off[j]
				}
				for j := range d {
					switch shape {
					case family.Full, family.Tied:
						for l := range j + 1 {
							q[j*(j+1)/2+l] += w * off[j] * off[l]
						}
					case family.Diag, family.TiedDiag:
						q[j] += w * off[j] * off[j]
					default:
						q[0] += w * off[j] * off[j]
					}
				}
			}
		}
		for i, v := range want {
			if math.Abs(s.Sum[i]-v) > 1e-11*(1+math.Abs(v)) {
				t.Errorf("%s: sum %d is %v after the move, %v by a loop", shape, i, s.Sum[i], v)
			}
		}
	}
}
