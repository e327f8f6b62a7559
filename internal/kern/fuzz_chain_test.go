package kern

import "testing"

// FuzzChain holds the recursions of chains against portable Go, for numbers that are not negative, as probabilities and densities are.
func FuzzChain(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, nb, kb uint8, _ []byte) {
		r := newDraws(t, seed, nil)
		n, k := sizes(nb, kb)
		kp := Pad(k)
		rows := func(n int) []float64 {
			s := r.ordinary(n * kp)
			for i, v := range s {
				if s[i] = v * v; i%kp >= k {
					s[i] = 0
				}
			}
			return s
		}
		past, m, b, end := rows(1), rows(k), rows(n), rows(1)
		alpha, c := rows(n), r.ordinary(n)
		forward := func() []float64 { ChainForward(alpha, c, b, past, m, k); return append(clone(alpha), c...) }
		against(r, forward, func(l Level, got, want []float64) { r.close(l, "ChainForward", got, want, want, 1e-11) })

		r.at(Go, func() { forward() })
		gamma, beta, u, moves := rows(n), rows(1), rows(n), rows(kp)
		begin := clone(moves)
		against(r, func() []float64 {
			copy(u, b)
			copy(beta, end)
			copy(moves, begin)
			ChainBackward(gamma, beta, alpha, c, u, m, k)
			ChainMoves(moves, alpha, u, n, k)
			return append(append(append(clone(gamma), beta...), u...), moves...)
		}, func(l Level, got, want []float64) { r.close(l, "ChainBackward", got, want, want, 1e-11) })
	})
}
