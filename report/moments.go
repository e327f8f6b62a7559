package report

import "math"

// moments are the mean and the standard deviation of each column, of the cells that are there.
type moments struct{ mean, square, weight []float64 }

func newMoments(d int) moments {
	return moments{make([]float64, d), make([]float64, d), make([]float64, d)}
}

// add brings the means and the sums of squared differences up to date with a row of weight w.
func (m *moments) add(x []float64, w float64) {
	for j, v := range x {
		if v != v {
			continue
		}
		m.weight[j] += w
		d := v - m.mean[j]
		m.mean[j] += d * w / m.weight[j]
		m.square[j] += w * d * (v - m.mean[j])
	}
}

// done returns the means, NaN for a column without a cell, and the standard deviations, 0 for such.
func (m *moments) done() (mean, sd []float64) {
	for j, w := range m.weight {
		if !(w > 0) {
			m.mean[j] = math.NaN()
			continue
		}
		m.square[j] = math.Sqrt(max(m.square[j], 0) / w)
	}
	return m.mean, m.square
}
