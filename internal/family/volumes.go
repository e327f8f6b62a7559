package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// volumes are the logarithms of volumes l_c on their way: covariances are l_c C, C shared, and the moments of a component of
// share n_c of the weight are S_c, full or the variances along axes. With C at its best for them, the sum of f_c S_c with
// f_c = n_c / l_c, what is to be small is
//
//	d sum_c n_c log l_c + log |C|,
//
// which is convex in the log l_c, since |C| is a polynomial in the f_c without a negative coefficient. Newton's method ends in a few
// steps. The volumes for C and C for the volumes in turn, Celeux and Govaert's iteration, take thousands where components are
// flat in different directions; it is what is done where a step of Newton's is for the worse.
type volumes struct {
	n     []float64 // weights, their sum 1
	d     float64
	parts parts
	log   []float64
	cost  float64
	of    [][]float64 // as parts returns them
	trace []float64
}

// A parts function takes the f_c and returns log |C| and for each component its part f_c C^-1 S_c of the unit matrix, as a
// vector: products of vectors are traces of products. It returns NaN where C is not positive definite.
type parts func(f []float64) (logDet float64, of [][]float64, trace []float64)

// Limits of Newton's method for volumes.
const (
	volumeSteps   = 200
	volumeSettled = 1e-12 // change of a log volume at which they have settled
	volumeFlat    = 1e-22 // what is nothing to fall by, beside a cost of 1
	volumeFar     = 3     // the longest change in a step
	volumeRounds  = 1e-14 // what the cost may seem to rise by, beside 1 and itself
)

// balance returns the best log volumes up to a common shift, from those given, for weights n. It reports whether they have
// settled.
func balance(log, n []float64, d int, p parts) (best []float64, settled bool) {
	total := 0.0
	for _, w := range n {
		total += w
	}
	v := &volumes{d: float64(d), parts: p}
	for _, w := range n {
		v.n = append(v.n, w/total)
	}
	v.at(slices.Clone(log))
	for range volumeSteps {
		before := *v
		if step, falls, ok := v.newton(); ok {
			far := 0.0
			for _, s := range step {
				far = max(far, math.Abs(s))
			}
			v.move(step, volumeFar/max(far, volumeFar))
			if v.cost <= before.cost+volumeRounds*(1+math.Abs(before.cost)) {
				if far <= volumeSettled || falls <= volumeFlat {
					return v.log, true
				}
				continue
			}
			*v = before
		}
		turn := make([]float64, len(v.n))
		for c, t := range v.trace {
			turn[c] = math.Log(t / (v.n[c] * v.d))
		}
		if v.move(turn, 1); !(v.cost <= math.MaxFloat64) {
			return before.log, false
		}
	}
	return v.log, false
}

// move moves by f times the step.
func (v *volumes) move(step []float64, f float64) {
	log := slices.Clone(v.log)
	for c, s := range step {
		log[c] += f * s
	}
	v.at(log)
}

// at goes to the log volumes, which it keeps.
func (v *volumes) at(log []float64) {
	f := make([]float64, len(log))
	v.log, v.cost = log, 0
	for c, l := range log {
		f[c] = v.n[c] * math.Exp(-l)
		v.cost += v.d * v.n[c] * l
	}
	logDet := 0.0
	logDet, v.of, v.trace = v.parts(f)
	v.cost += logDet
}

// newton returns Newton's step and by how much the cost falls, twice, in its model. It returns false where the cost does not
// curve, but for the shift of all.
func (v *volumes) newton() (step []float64, falls float64, ok bool) {
	k := len(v.n)
	h, g := make([]float64, k*k), make([]float64, k)
	for c, own := range v.of {
		g[c] = v.trace[c] - v.n[c]*v.d
		for e := range c + 1 {
			h[c*k+e] = v.d/float64(k*k) - dot(own, v.of[e]) // the first holds the shift of all, which costs nothing
		}
		h[c*k+c] += v.trace[c]
	}
	t, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: k, Stride: k, Data: h})
	if !ok {
		return nil, 0, false
	}
	step = slices.Clone(g)
	lapack64.Potrs(t, blas64.General{Rows: k, Cols: 1, Stride: 1, Data: step})
	return step, dot(g, step), true
}

// alongAxes are the parts of variances along axes that all share.
func alongAxes(s [][]float64, d int) parts {
	return func(f []float64) (logDet float64, of [][]float64, trace []float64) {
		of, trace = make([][]float64, len(s)), make([]float64, len(s))
		c := weighed(s, f)
		for _, v := range c {
			logDet += math.Log(v)
		}
		for i, q := range s {
			of[i] = make([]float64, d)
			for j, v := range q {
				of[i][j] = f[i] * v / c[j]
				trace[i] += of[i][j]
			}
		}
		return logDet, of, trace
	}
}

// weighed returns the sum of f[i] s[i].
func weighed(s [][]float64, f []float64) []float64 {
	sum := make([]float64, len(s[0]))
	for i, q := range s {
		for j, v := range q {
			sum[j] += f[i] * v
		}
	}
	return sum
}

// ofMatrices are the parts of packed matrices, told in units of their sum with weights n: there C is never far from a multiple of
// the unit matrix, however flat the rows.
func ofMatrices(s [][]float64, n []float64, d int) parts {
	full, w, near := Gaussian{Shape: Full}, make([]float64, len(s[0])), make([][]float64, len(s))
	unit := full.inverse(w, logCholesky(weighed(s, n), d), d)
	for i, q := range s {
		near[i] = congruent(w, q, d)
	}
	return func(f []float64) (logDet float64, of [][]float64, trace []float64) {
		of, trace = make([][]float64, len(s)), make([]float64, len(s))
		l, w := make([]float64, len(s[0])), make([]float64, len(s[0]))
		if !cholesky(l, weighed(near, f), d, 0) {
			return math.NaN(), of, trace
		}
		for j := range d {
			l[tri(j, j)] = math.Log(l[tri(j, j)])
		}
		logDet = 2 * (full.inverse(w, l, d) + unit)
		for i, q := range near {
			of[i] = congruent(w, q, d)
			for j := range d {
				for m := range j {
					of[i][tri(j, m)] *= f[i] * math.Sqrt2 // it stands for two cells
				}
				of[i][tri(j, j)] *= f[i]
				trace[i] += of[i][tri(j, j)]
			}
		}
		return logDet, of, trace
	}
}

// congruent returns W Q W' for a lower triangle W, packed as Q is.
func congruent(w, q []float64, d int) []float64 {
	out, half := make([]float64, len(q)), make([]float64, d)
	for j := range d {
		clear(half) // row j of W Q
		for l := range j + 1 {
			for m := range d {
				half[m] += w[tri(j, l)] * q[tri(max(l, m), min(l, m))]
			}
		}
		for l := range j + 1 {
			out[tri(j, l)] = dot(w[tri(l, 0):tri(l, 0)+l+1], half)
		}
	}
	return out
}

// logVolume returns the logarithm of |q|^(1/d).
func logVolume(q []float64, d int) (sum float64) {
	u := logCholesky(slices.Clone(q), d)
	for j := range d {
		sum += 2 * u[tri(j, j)] / float64(d)
	}
	return sum
}

// volumesAndShape returns the logarithms of standard deviations log l_c/2 + log a_j/2 under which weights n with variances v
// are the most likely.
func (m *moments) volumesAndShape(v [][]float64) [][]float64 {
	d, start := m.d, make([]float64, len(v))
	for c := range v {
		for _, x := range v[c] {
			start[c] += math.Log(x) / float64(d)
		}
	}
	log, settled := balance(start, m.n, d, alongAxes(v, d))
	m.loose = m.loose || !settled
	shape, mean := weighed(v, m.shares(log)), 0.0
	for j, x := range shape {
		shape[j] = math.Log(x)
		mean += shape[j] / float64(d)
	}
	logs := make([][]float64, len(v))
	for c := range v {
		sum := 0.0
		for j, x := range v[c] {
			sum += x * math.Exp(mean-shape[j])
		}
		for _, a := range shape {
			logs[c] = append(logs[c], (math.Log(sum/float64(d))+a-mean)/2)
		}
	}
	return logs
}

// shares returns the f_c of log volumes, up to a factor.
func (m *moments) shares(log []float64) []float64 {
	f := make([]float64, len(log))
	for c, l := range log {
		f[c] = m.n[c] * math.Exp(-l)
	}
	return f
}

// proportional returns the log-Cholesky factors of covariances l_c C for VEE.
func (m *moments) proportional() [][]float64 {
	d, start := m.d, make([]float64, len(m.s))
	for c, q := range m.s {
		start[c] = logVolume(q, d)
	}
	log, settled := balance(start, m.n, d, ofMatrices(m.s, m.n, d))
	m.loose = m.loose || !settled
	u, mean := logCholesky(weighed(m.s, m.shares(log)), d), 0.0
	for j := range d {
		mean += u[tri(j, j)] / float64(d)
	}
	shift(u, -mean, d)
	full, w := Gaussian{Shape: Full}, make([]float64, len(u))
	full.inverse(w, u, d)
	all := make([][]float64, len(m.s))
	for c, q := range m.s {
		all[c] = slices.Clone(u)
		shift(all[c], math.Log(full.trace(w, q, d)/float64(d))/2, d)
	}
	return all
}

// shift multiplies the log-Cholesky factor u by exp(by).
func shift(u []float64, by float64, d int) {
	f := math.Exp(by)
	for j := range d {
		for l := range j {
			u[tri(j, l)] *= f
		}
		u[tri(j, j)] += by
	}
}
