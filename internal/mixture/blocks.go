package mixture

import (
	"math"
	"math/bits"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Rows that follow one another are often alike, those of a picture above all, and components far from them have no
// share in them. A panel of which a box is known runs with the components that may have one. This is the idea of Moore's
// trees (1999, "Very fast EM-based mixture model clustering using multiresolution kd-trees") without a tree. What is left
// out is below the rounding of every sum, so results are those of all components.

// negligible is how many nats below a row's best component another one must be to be left out: a share of 4e-18. For the
// component's own sums it is more by minus the logarithm of its weight, since they are compared with its weight. One nat is for the rounding of
// constants.
const negligible = 40 + 1

// leastComponents is the number of components from which on bounds are tried.
const leastComponents = 8

// maxRelax is the largest 1/beta at which components are left out; all that much hotter matter everywhere.
const maxRelax = 50

// mostLeft is the percentage of pairs from which on bounds are not worth their time.
const mostLeft = 75

// bounding is how a Bound leaves components out.
type bounding struct {
	kernel family.BoundedKernel
	margin []float64 // k: how far below a lower bound of the row's best score a component must be, in nats
	relax  float64   // 1/beta
}

// newBounding returns how b leaves components out; nil where it cannot, or where too many would be left even of rows
// at the means.
func (b *Bound) newBounding(d int) *bounding {
	kernel, ok := b.fused.(family.BoundedKernel)
	if !ok || b.k < leastComponents || !kernel.Bounded() {
		return nil
	}
	o := &bounding{kernel: kernel, margin: make([]float64, b.k), relax: 1 / b.beta}
	if !(o.relax <= maxRelax) {
		return nil
	}
	for c, w := range b.logw {
		o.margin[c] = max(negligible, (negligible-min(w, 0))*o.relax)
	}
	boxes, v, left, g := family.NewBoxes(d), newChosen(b.k), 0.0, new(family.Gathered)
	for from := 0; from < b.k; from += kern.Rows {
		kernel.Means(boxes, from)
		kernel.Matter(v.sets, boxes, o.margin, o.relax, g)
		for i := range boxes.N {
			left += math.Exp(b.logw[from+i]) * float64(count(v.set(i)))
		}
	}
	if !(100*left < mostLeft*float64(b.k)) {
		return nil
	}
	return o
}

// chosen is scratch memory for the components of panels.
type chosen struct {
	sets  []uint64 // a set of components for each panel
	words int      // of a set
	union []uint64
	of    []int
}

func newChosen(k int) *chosen {
	words := (k + 63) / 64
	return &chosen{words: words, sets: make([]uint64, words*kern.Rows),
		union: make([]uint64, words), of: make([]int, 0, k)}
}

func (v *chosen) set(i int) []uint64 { return v.sets[i*v.words : (i+1)*v.words] }

// Bounded reports whether components may be left out at all.
func (b *Bound) Bounded() bool { return b.bounding != nil }

// Left returns how many pairs of a component and a box are left: what GatherBoxes would run with, or a little less. It does
// not depend on time or threads.
func (b *Bound) Left(boxes *family.Boxes, sc *Scratch) int {
	o := b.bounding
	return o.kernel.Matter(sc.chosen.sets, boxes, o.margin, o.relax, sc.gathered)
}

// Pays reports whether so few are left that GatherBoxes is worth its time in rows like those of the boxes.
func (b *Bound) Pays(boxes *family.Boxes, sc *Scratch) bool {
	return 100*b.Left(boxes, sc) < mostLeft*b.k*boxes.N
}

// GatherBoxes is Gather for panels with their boxes, at most kern.Rows, without the components that do not matter.
func (b *Bound) GatherBoxes(s *family.Stats, panels []*family.Panel, boxes *family.Boxes, sc *Scratch) {
	v := sc.chosen
	o := b.bounding
	o.kernel.Matter(v.sets, boxes, o.margin, o.relax, sc.gathered)
	for from := 0; from < len(panels); {
		to := v.run(from, len(panels), b.k)
		run := panels[from:to]
		from = to
		if len(v.of) == b.k {
			for _, p := range run {
				b.Gather(s, p, sc)
			}
			continue
		}
		kernel := o.kernel.Choose(v.of, sc.gathered)
		for _, p := range run {
			kernel.Logits(sc.logits[:len(v.of)*kern.Rows], p, sc.gathered, sc.Workspace)
			b.withNoise(p, sc, len(v.of))
			b.gather(s, p, sc, kernel, v.of)
		}
		kernel.Flush(s, sc.gathered)
	}
}

// run finds how many panels from on had better run together and sets v.of to the components that matter to one of them,
// or to all.
func (v *chosen) run(from, n, k int) (to int) {
	copy(v.union, v.set(from))
	spent := cost(count(v.union), 1)
	for to = from + 1; to < n; to++ {
		alone, both := 0, 0
		for w, set := range v.set(to) {
			alone += bits.OnesCount64(set)
			both += bits.OnesCount64(set | v.union[w])
		}
		joined := cost(both, to-from+1)
		if joined > spent+cost(alone, 1) {
			break
		}
		spent = joined
		for w, set := range v.set(to) {
			v.union[w] |= set
		}
	}
	all := spent >= 4*k*(to-from)
	v.of = v.of[:0]
	if all {
		for c := range k {
			v.of = append(v.of, c)
		}
		return to
	}
	for w, set := range v.union {
		for ; set != 0; set &= set - 1 {
			v.of = append(v.of, 64*w+bits.TrailingZeros64(set))
		}
	}
	return to
}

// cost returns what a run of panels with so many components costs: to take one in and give its sums out again costs a
// quarter of what it costs in a panel.
func cost(components, panels int) int { return components * (4*panels + 2) }

func count(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}
