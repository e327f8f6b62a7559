package nearest

import "github.com/latent-go/latent/internal/kern"

// Near are squared distances of rows as the scores of a sweep give them, to choose moves by and not to label by: in float32 right to about a
// millionth of the square of the row's length from the mean of the rows, in words to a thousandth of that length times that of the
// centre, in bytes to some hundredths. None is below 0.
type Near struct {
	First, Second []float32 // N each: from the centre of the row's label, and from the nearest of the others
	Known         bool      // set by Sweep: false where there is one centre, and where centres lie so far from the rows that scores do not tell
}

// tells readies the job for what it is to tell.
func (j *job) tells(n *Near) {
	if j.near = nil; n == nil {
		return
	}
	if n.Known = j.k > 1 && j.centres.aa == 0; !n.Known {
		return
	}
	j.near = n
	j.slot = grown(j.slot, j.k)
	for at, i := range j.centres.order {
		if i >= 0 {
			j.slot[i] = int32(at)
		}
	}
}

// tell sets what is known of row i: square is that of its length, first and second are scores.
func (n *Near) tell(i int, square, first, second float32) {
	n.First[i] = max(square+first, 0)
	n.Second[i] = max(square+second, n.First[i])
}

// tellDense tells of the rows of m panels in hand, from panel at on. Their two least scores stand in w.state.
func (w *worker) tellDense(at, m int, norm []float32) {
	for p := range m {
		lo := (at + p) * kern.Rows
		for r := range min(kern.Rows, w.batch.n-lo) {
			v := norm[p*kern.Rows+r]
			w.j.near.tell(w.e.rowOf(w.batch.lane(lo+r)), v*v, w.state[p][r], w.state[p][kern.Rows+r])
		}
	}
}

// exact is a panel's row of intPanels without errors.
var exact [4 * kern.Rows]float32

// tellInts tells of the rows of the panel in hand, whose labels are got and whose scores stand in w.scores.
func (w *worker) tellInts(row []float32, got []int32) {
	c := w.j.centres
	second := (*[kern.Rows]float32)(w.state[0][kern.Rows:])
	kern.RunnerUp(second, exact[:], c.meta, w.scores, c.w, c.tiles)
	for r := range min(kern.Rows, w.batch.n) {
		miss, kept := row[2*kern.Rows+r]/2, row[3*kern.Rows+r]/2
		w.j.near.tell(w.e.rowOf(w.batch.lane(r)), miss*miss+kept*kept, w.scores[int(w.j.slot[got[r]])*kern.Rows+r], second[r])
	}
}
