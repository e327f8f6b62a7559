package mixture

import (
	"math"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Noise is one more component, of constant density 1/V: rows that lie anywhere (Banfield and Raftery 1993). V is given, not climbed. The
// component has one parameter, its mixing weight pi_0, whose logit stands after those of the others; the weights of all add up to 1.
// A row far from everything keeps 1/V, however far it is.
type Noise struct {
	// LogVolume is log V, in nats and in the units of the rows. V itself may leave the range of float64 where columns are many.
	LogVolume float64
	// LogWidths, one a column, add up to LogVolume: the density of the cells that are there, of a row that lacks some, is one over the
	// product of their widths. For a box along the columns it is that of the uniform distribution of those cells.
	LogWidths []float64
}

// minLogNoise is the smallest logarithm of the noise's weight, 1e-12 like that of a probability: the floor that stands for 0.
const minLogNoise = -27.631021115928547

// leavesFloor is the step of the noise's logit off the floor from which on it is not held there.
const leavesFloor = 1e-4

// shares returns how many mixing weights there are: the components' and the noise's.
func (m *Mixture) shares() int {
	if m.Noise != nil {
		return m.K + 1
	}
	return m.K
}

// LogNoise returns the logarithm of the noise's weight; -Inf where there is no noise.
func (m *Mixture) LogNoise(theta []float64) float64 {
	if m.Noise == nil {
		return math.Inf(-1)
	}
	return theta[m.K] - logSumExp(theta[:m.K+1])
}

// NoiseWeight returns the noise's weight; 0 on its floor, and where there is no noise.
func (m *Mixture) NoiseWeight(theta []float64) float64 {
	if m.Noise == nil || m.onFloor(theta) {
		return 0
	}
	return math.Exp(m.LogNoise(theta))
}

// onFloor reports whether the noise's weight is on its floor, up to rounding of logits.
func (m *Mixture) onFloor(theta []float64) bool { return m.LogNoise(theta) <= minLogNoise+1e-6 }

// SetNoise gives the noise the weight share, from 1e-12 to 1 less that, and leaves the weights of the components as they are to each other. Without
// noise it does nothing.
func (m *Mixture) SetNoise(theta []float64, share float64) {
	if m.Noise != nil {
		theta[m.K] = logSumExp(theta[:m.K]) + min(max(math.Log(share/(1-share)), minLogNoise), -minLogNoise)
	}
}

// logSumExp returns log sum exp v.
func logSumExp(v []float64) float64 {
	top := math.Inf(-1)
	for _, x := range v {
		top = max(top, x)
	}
	sum := 0.0
	for _, x := range v {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

// support returns what share i counts for in the metric.
func (m *Mixture) support(s *family.Stats, i int) float64 {
	if i == m.K {
		return s.SupportOf(s.Noise)
	}
	return s.Support(i)
}

// projectNoise raises the noise's weight to its floor.
func (m *Mixture) projectNoise(theta []float64) {
	if m.Noise == nil {
		return
	}
	if least := logSumExp(theta[:m.K]) + minLogNoise; theta[m.K] < least {
		theta[m.K] = least
	}
}

// heldNoise sets held at the noise's logit where its weight is on the floor at theta and the M-step next leaves it there, and reports
// whether the M-step moves it off.
func (m *Mixture) heldNoise(held []bool, theta, next []float64) (leaves bool) {
	if m.Noise == nil || !m.onFloor(theta) {
		return false
	}
	held[m.K] = m.LogNoise(next) <= minLogNoise+leavesFloor
	return !held[m.K]
}

// noise is what a Bound knows of the noise.
type noise struct {
	logPi   float64            // log pi_0
	density float64            // -log V
	widths  []float64          // Noise.LogWidths
	scores  [kern.Rows]float64 // log pi_0 - log V for each row of a panel
	shares  bool               // the kernel takes row weights from the panel, which must be those that the noise leaves
}

// bindNoise returns what a Bound knows of the noise of m; nil where there is none. kernel may be nil.
func (m *Mixture) bindNoise(theta []float64, kernel family.FusedKernel) *noise {
	if m.Noise == nil {
		return nil
	}
	b := &noise{logPi: m.LogNoise(theta), density: -m.Noise.LogVolume, widths: m.Noise.LogWidths, shares: kernel != nil}
	for i := range b.scores {
		b.scores[i] = b.logPi + b.density
	}
	if t, ok := kernel.(family.TotalKernel); ok {
		b.shares = t.Totals()
	}
	return b
}

// column sets dst, of kern.Rows numbers, to log pi_0 plus the log density of the noise for the rows of p.
func (o *noise) column(dst []float64, p *family.Panel) {
	if !p.Holes || o.widths == nil {
		copy(dst, o.scores[:])
		return
	}
	for i := range dst {
		dst[i] = o.logPi
	}
	for j, w := range o.widths {
		there := p.Mask[j*kern.Rows : j*kern.Rows+kern.Rows]
		for i, v := range there {
			dst[i] -= v * w
		}
	}
}

// outside is scratch memory for what the noise takes of the rows of a panel.
type outside struct {
	share   [kern.Lanes]float64 // sum w r_0, rows modulo kern.Lanes
	density [kern.Lanes]float64 // sum w r_0 log p_0 of panels with missing cells
	gapped  [kern.Lanes]float64 // the part of share in them
	panel   family.Panel        // the panel with what is left of the row weights
	left    [kern.Rows]float64
}

// ones are the feature whose sum is a count.
var ones = func() (v [kern.Rows]float64) {
	for i := range v {
		v[i] = 1
	}
	return v
}()

// take adds the noise's share of the rows of p to the sums of o, r[i] factor[i] being w r_0, and returns the panel, for a kernel that asks for
// them with the row weights that are left to the components. The panel is then the scratch's.
func (o *outside) take(b *noise, p *family.Panel, r, factor []float64) *family.Panel {
	r, factor = r[:kern.Rows], factor[:kern.Rows]
	if p.Holes && b.widths != nil {
		for i, v := range r {
			o.addGaps(b, p, i, v*factor[i])
		}
	}
	kern.AccumulateFew(o.share[:], ones[:], r, factor, 1, 1)
	if !b.shares {
		return p
	}
	for i, w := range p.W[:kern.Rows] {
		o.left[i] = w - r[i]*factor[i]
	}
	o.panel = *p
	o.panel.W = o.left[:]
	return &o.panel
}

// addGaps adds the log density of row i of a panel with missing cells.
func (o *outside) addGaps(b *noise, p *family.Panel, i int, w float64) {
	if w == 0 {
		return
	}
	at := 0.0
	for j, width := range b.widths {
		at -= p.Mask[j*kern.Rows+i] * width
	}
	o.gapped[i%kern.Lanes] += w
	o.density[i%kern.Lanes] += w * at
}

// flush adds the sums of o to s and empties it.
func (o *outside) flush(s *family.Stats, b *noise) {
	share := kern.Sum(o.share[:])
	s.Noise += share
	s.NoiseDensity += kern.Sum(o.density[:]) + (share-kern.Sum(o.gapped[:]))*b.density
	clear(o.share[:])
	clear(o.density[:])
	clear(o.gapped[:])
}
