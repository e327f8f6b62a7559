package kern

import (
	"math"
	"math/rand/v2"
	"testing"
)

// chainStates are the numbers of n rows of k states, padded with zeros, and what tells whether others were written.
func chainStates(rng *rand.Rand, n, k int) ([]float64, func(t *testing.T)) {
	s, intact := unaligned(rng, n*Pad(k))
	for i := range s {
		if s[i] = math.Abs(s[i]); i%Pad(k) >= k {
			s[i] = 0
		}
	}
	return s, intact
}

// The recursions are what their definitions say, in plain loops over pairs of states.
func TestChainRecursions(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(71, 0))
		for _, k := range []int{1, 2, 3, 5, 7, 8, 9, 16, 20, 65} {
			for _, n := range []int{0, 1, 2, 3, 31} {
				kp := Pad(k)
				past, _ := chainStates(rng, 1, k)
				m, _ := chainStates(rng, k, k)
				b, _ := chainStates(rng, n, k)
				alpha, intactAlpha := chainStates(rng, n, k)
				c, intactC := unaligned(rng, n)
				ChainForward(alpha, c, b, past, m, k)
				intactAlpha(t)
				intactC(t)
				before := past
				for r := range n {
					row, sum := make([]float64, k), 0.0
					for to := range k {
						for from := range k {
							row[to] += before[from] * m[from*kp+to] * b[r*kp+to]
						}
						sum += row[to]
					}
					almost(t, "c", c[r], sum)
					for to, v := range row {
						almost(t, "alpha", alpha[r*kp+to], v/sum)
					}
					before = alpha[r*kp : (r+1)*kp]
				}

				beta, intactBeta := chainStates(rng, 1, k)
				u, want := clone(b), clone(beta)
				gamma, intactGamma := chainStates(rng, n, k)
				ChainBackward(gamma, beta, alpha, c, u, m, k)
				intactBeta(t)
				intactGamma(t)
				for r := n - 1; r >= 0; r-- {
					next := make([]float64, k)
					for from := range k {
						almost(t, "gamma", gamma[r*kp+from], alpha[r*kp+from]*want[from])
						almost(t, "u", u[r*kp+from], b[r*kp+from]*want[from]/c[r])
						for to := range k {
							next[to] += m[from*kp+to] * b[r*kp+from] * want[from] / c[r]
						}
					}
					copy(want, next)
				}
				for from := range k {
					almost(t, "beta", beta[from], want[from])
				}

				moves, intactMoves := chainStates(rng, kp, k)
				sum := clone(moves)
				ChainMoves(moves, alpha, u, n, k)
				intactMoves(t)
				for from := range k {
					for to := range k {
						v := sum[from*kp+to]
						for r := range n {
							v += alpha[r*kp+from] * u[r*kp+to]
						}
						almost(t, "moves", moves[from*kp+to], v)
					}
				}
			}
		}
	})
}

// almost reports a positive number that is off by more than sums of some dozens of terms round.
func almost(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}
