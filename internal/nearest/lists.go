package nearest

import (
	"math"
	"math/bits"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/large"
)

// lists tell which centres may be the nearest of some row of a panel: the others are not compared. What is kept is a bound for each panel and
// centre (Elkan 2003 has one for each row and centre, Ding et al. 2015 for groups of centres; a panel is what is compared at once).
//
// Scores are as in centres, with m = mu, which does not move: |x - c|^2 less what all centres of a row share. For row i let v be an upper
// bound of the score of some centre. The margin of centre j is the least over the rows of score less radius less v. From sweep to sweep the
// score of j changes by its norm's change less 2 z.(c'-c), at most 2 |z| |c'-c| (Cauchy-Schwarz), and v is computed anew from the centres that the
// rows are at, for at most rise = max(v' - v). So until
//
//	margin + (norm' - norm) - 2 |z| (path' - path) - (rise' - rise)
//
// has come down to 0, with path and rise summed over the sweeps, j is farther from every row than another centre. bound is margin - norm + 2 |z|
// path + rise as of the sweep that compared the two: nothing is written for centres that are left out.
type lists struct {
	mode  mode
	share float64     // of the centres listed, in the last sweep that had lists
	width int         // of bound: the centres, rounded up to blocks of kern.CandidateBlock
	bound []float32   // panels x width
	upper []float32   // panels x kern.Rows: v
	panel []listPanel // panels
}

// listPanel is what lists know of a panel beside its bounds.
type listPanel struct {
	rise    float64
	z, a, g float32 // the largest of its rows: 2 |z|, and of the radius what the length of a centre multiplies, and what stands alone
	set     bool
}

// listWork is what a sweep with lists takes, as a share of one without, beside the share of the centres that are listed. Measured on Zen 5:
// nanoseconds a row without lists, and with a share s of the centres listed,
//
//	d, k       avx512           avx2
//	32, 1000   165  50 + 165 s  335  90 + 330 s
//	128, 256   150  50 + 130 s  300  75 + 265 s
const listWork = 0.3

// listShare returns the share of centres listed below which lists pay within a few sweeps, for all that the first ones cost.
func listShare() float64 {
	if kern.Current() == kern.AVX512 {
		return 0.6
	}
	return 0.7
}

// earlyCentres is the number of centres from which on rows are laid out by label, and all panels have bounds, once fewer than half of the labels
// change: sooner than samples of rows as they come can tell whether lists pay. With so many centres that takes less than half of a sweep. Of
// 100,000 rows of 32 columns and 1000 centres it is the third sweep that sets bounds, and was the fifth.
const earlyCentres = 500

// leaveShare is the share of centres listed from which on lists are given up. It falls from sweep to sweep, and to set all bounds anew takes
// longer than some sweeps that list too many.
const leaveShare = 0.85

// decide sets what the next sweep does with lists, from how many centres of how many this one listed; early says that all panels are to have
// bounds whatever samples say. It reports whether they are from now on. In samples the share falls as fast as centres come to rest: it is taken
// for what it will be, as it fell last.
func (l *lists) decide(offered, listed int64, early bool) (begins bool) {
	next := 1.
	if offered > 0 {
		share := float64(listed) / float64(offered)
		if next = share; l.share > 0 {
			next += min(share-l.share, 0)
		}
		l.share = share
	}
	switch {
	case l.mode == sampling && (early || next < listShare()):
		l.mode = filling
		return true
	case l.mode == filling:
		l.mode = bounding
	case l.mode == bounding && offered > 0 && l.share > leaveShare:
		l.mode = sampling
	}
	return false
}

// cost is what comparing a row takes, as a share of what it takes without lists.
func (l *lists) cost() float64 {
	if l.mode == sampling {
		return 1
	}
	return min(l.share+listWork, 1)
}

// ready reports whether lists may be kept in this sweep: with bounds no larger than the rows, scores about a point that does not move, and rows
// that are not too wide.
func (l *lists) ready(e *Engine, c *centres, k int) bool {
	if e.ints == nil || e.ints.words || !kern.HasPicked() || c.off != 0 || e.ints.groups*picksAtOnce > callWork {
		return false
	}
	if l.bound == nil {
		if l.width = listWidth(k); l.width > kern.Rows*e.d {
			return false
		}
		l.bound, l.upper, l.panel = large.Make[float32](e.panels*l.width), large.Make[float32](e.panels*kern.Rows), make([]listPanel, e.panels)
	}
	return true
}

// listWidth is the number of centres rounded up to blocks.
func listWidth(k int) int {
	return (k + kern.CandidateBlock - 1) / kern.CandidateBlock * kern.CandidateBlock
}

// pickTable lays the centres out for kern.Picked and kern.Candidates, each with a step of its own. path is how far each has come.
func (c *centres) pickTable(p *intPanels, path []float64, k, d int) {
	const block = kern.CandidateBlock
	size := kern.PickedHead + 4*p.groups
	c.picked, c.each, c.one = grown(c.picked, k*size), grown(c.each, 4*k), grown(c.one, 4*(p.groups+2))
	c.table = grown(c.table, 5*listWidth(k))
	clear(c.table)
	c.largest = [3]float64{}
	for slot, id := range c.order[:k] {
		i := int(id)
		meta := c.each[4*i : 4*i+4]
		clear(c.one)
		c.intTile(p, c.one, meta, c.order[slot:slot+1], d)
		norm := len(c.one) - 4
		to := c.picked[i*size : (i+1)*size]
		copy(to[:4], c.one[:4])
		putWord(to[4:], math.Float32bits(meta[0]))
		copy(to[8:12], c.one[norm:])
		copy(to[kern.PickedHead:], c.one[4:norm])
		row := c.table[i/block*5*block+i%block:]
		row[0], row[block], row[2*block], row[3*block], row[4*block] = float32(path[i]), float32(c.norm[i]), meta[1], meta[2], meta[3]
		c.largest[0] = max(c.largest[0], path[i]+c.length[i]+float64(meta[2]))
		c.largest[1] = max(c.largest[1], math.Abs(c.norm[i])+float64(meta[3]))
		c.largest[2] = max(c.largest[2], float64(meta[1]))
	}
}

// picksAtOnce is how many centres of a list are scored at once: their scores stay in the first-level cache, and a call within callWork.
const picksAtOnce = 96

// picks is the scratch memory of lists.
type picks struct {
	seen         []uint64
	list         []uint32
	lift, radius []float32
	bound        []float32
	near         []uint16
	scores, work []float32
	meta         []float32
	id           []int32
}

func (s *picks) ready(k int) {
	room := k + 2*kern.PickedRoom + kern.CandidateBlock + kern.Rows
	if len(s.list) >= room {
		return
	}
	s.seen, s.list, s.lift, s.radius, s.bound = make([]uint64, k/64+1), make([]uint32, room), make([]float32, room), make([]float32, room), make([]float32, room)
	s.near, s.scores, s.work, s.meta, s.id = make([]uint16, room/16+1), make([]float32, room*kern.Rows), make([]float32, (picksAtOnce+kern.PickedRoom)*kern.Rows), make([]float32, 4*room), make([]int32, room)
}

// listed labels the rows of panels p to q, which have labels, by lists.
func (w *worker) listed(p, q int) {
	e := w.e
	size := e.ints.groups * 4 * kern.Rows
	w.picks.ready(w.j.k)
	for ; p < q; p++ {
		lo := p * kern.Rows
		w.batch = rowBatch{n: min(kern.Rows, e.n-lo), first: lo}
		w.listPanel(p, e.ints.q[p*size:(p+1)*size], e.ints.row[p*4*kern.Rows:(p+1)*4*kern.Rows], w.j.st.label[lo:lo+kern.Rows])
	}
}

// own lists the centres that labels name, each once, and returns their number.
func (s *picks) own(label []int32) (n int) {
	for _, c := range label {
		if c < 0 || s.seen[c>>6]>>(c&63)&1 != 0 {
			continue
		}
		s.seen[c>>6] |= 1 << (c & 63)
		s.list[n] = uint32(c)
		n++
	}
	for _, c := range s.list[:n] {
		s.seen[c>>6] = 0
	}
	return n
}

// listPanel labels the rows of panel p.
func (w *worker) listPanel(p int, x []uint8, row []float32, label []int32) {
	c, l, s := w.j.centres, &w.j.st.lists, &w.picks
	bound := l.bound[p*l.width : (p+1)*l.width]
	n := s.own(label)
	kern.Picked(x, row, c.picked, s.list, s.scores, w.e.ints.groups, n)
	for i, id := range s.list[:n] {
		*metaOf(s.meta, i) = *metaOf(c.each, int(id))
	}
	for i := range w.upper {
		w.upper[i] = math.MaxFloat32
	}
	kern.Uppers(&w.upper, row, s.meta, s.scores, n)

	coef, fresh := l.raise(p, row, c, &w.upper)
	for i, id := range s.list[:n] {
		lift, radius := kern.CandidateTerms(c.table, int(id), coef[0], coef[1], coef[2])
		s.lift[i], s.radius[i] = lift-radius+coef[4], radius
		bound[id] = float32(math.Inf(1)) // it is listed already
	}
	all := n + kern.Candidates(s.list[n:], s.lift[n:], s.radius[n:], bound, c.table, &coef)
	if !fresh {
		w.s.listed += int64(all)
		w.s.offered += int64(w.j.k)
	}
	near := w.score(x, row, bound, n, all)
	for i, id := range s.list[:near] {
		s.id[i] = int32(id)
		if i >= n {
			*metaOf(s.meta, i) = *metaOf(c.each, int(id))
		}
	}
	kern.Uppers(&w.upper, row, s.meta[4*n:], s.scores[n*kern.Rows:], near-n)
	w.list = grown(w.list, near+1)
	count, multi := kern.Survivors(w.list, row, s.meta, s.scores, &w.upper, 1, near)
	w.resolve(w.list[:count], multi, s.id, row)
}

// raise takes in the rows' upper bounds of this sweep. It returns what kern.Candidates wants, and whether panel p has no bounds yet: then all
// centres are to be listed.
func (l *lists) raise(p int, row []float32, c *centres, upper *[kern.Rows]float32) (coef [5]float32, fresh bool) {
	b, was := &l.panel[p], l.upper[p*kern.Rows:(p+1)*kern.Rows]
	if fresh = !b.set; fresh {
		*b = listPanel{set: true}
		for i := range kern.Rows {
			b.z, b.a, b.g = max(b.z, (row[2*kern.Rows+i]+row[3*kern.Rows+i])*up), max(b.a, row[2*kern.Rows+i]), max(b.g, row[kern.Rows+i])
		}
		for j := len(c.length); j < l.width; j++ {
			l.bound[p*l.width+j] = float32(math.Inf(1)) // no centre
		}
	} else {
		rise := math.Inf(-1)
		for i, u := range was {
			rise = max(rise, float64(upper[i])-float64(u))
		}
		b.rise += rise
	}
	copy(was, upper[:])
	// What roundings to float32 may come to, of scores, bounds and all that they are made of: each is at most 2^-24 of a sum of these.
	slack := 0x1p-20 * (4*(float64(b.z)*c.largest[0]+c.largest[1]+float64(b.a)*c.largest[2]+float64(b.g)) + math.Abs(b.rise))
	coef = [5]float32{b.z, b.a, b.g + float32(slack), float32(b.rise + slack), float32(b.rise - slack)}
	if fresh {
		coef[3] = math.MaxFloat32 / 4
	}
	return coef, fresh
}

// score sets the bounds of the centres of the list, all of them, of which the first n are scored already. It brings those that a row comes close
// to, and their scores, up behind the n, and returns their number with the n.
func (w *worker) score(x []uint8, row, bound []float32, n, all int) int {
	s := &w.picks
	kern.Margins(s.bound, s.near, s.scores, &w.upper, s.lift, s.radius, n)
	for i, id := range s.list[:n] {
		bound[id] = s.bound[i]
	}
	near := n
	for lo := n; lo < all; lo += picksAtOnce {
		m := min(picksAtOnce, all-lo)
		list := s.list[lo : lo+m]
		kern.Picked(x, row, w.j.centres.picked, s.list[lo:], s.work, w.e.ints.groups, m)
		kern.Margins(s.bound, s.near, s.work, &w.upper, s.lift[lo:], s.radius[lo:], m)
		for i, id := range list {
			bound[id] = s.bound[i]
		}
		for at, bits16 := range s.near[:(m+15)/16] {
			for mask := uint32(bits16) & validOf(m-16*at); mask != 0; mask &= mask - 1 {
				q := 16*at + bits.TrailingZeros32(mask)
				s.list[near] = list[q]
				*scoresOf(s.scores, near) = *scoresOf(s.work, q)
				near++
			}
		}
	}
	return near
}

// scoresOf returns the scores of centre q of a list.
func scoresOf(scores []float32, q int) *[kern.Rows]float32 {
	return (*[kern.Rows]float32)(scores[q*kern.Rows:])
}

// metaOf returns what Survivors wants to know of centre q.
func metaOf(meta []float32, q int) *[4]float32 { return (*[4]float32)(meta[4*q:]) }
