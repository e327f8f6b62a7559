package nearest

import (
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/transit"
)

// tallyWire is a Tally as it is sent to another machine.
type tallyWire struct {
	K, D             int
	Hi, Lo, NHi, NLo []float64
	Count            []int64
	Sums             [2]float64 // cost
	Top              float64
	Used             int64
	Look             [4]float64
	Far              []family.Far
	FarMax           int
	Short            bool
}

// GobEncode implements gob.GobEncoder.
func (t *Tally) GobEncode() ([]byte, error) {
	s, l := &t.sums, &t.look
	return transit.Encode(tallyWire{t.k, t.d, s.hi, s.lo, s.nhi, s.nlo, s.count, [2]float64{s.cost, s.costLo}, l.top, l.used,
		[4]float64{l.hi, l.lo, l.whi, l.wlo}, t.far.Far, t.far.FarMax, t.short})
}

// GobDecode implements gob.GobDecoder.
func (t *Tally) GobDecode(b []byte) error {
	var w tallyWire
	if err := transit.Decode(b, &w); err != nil {
		return err
	}
	*t = *NewTally(w.K, w.D, w.FarMax)
	s := &t.sums
	s.hi, s.lo, s.nhi, s.nlo, s.count, s.cost, s.costLo = w.Hi, w.Lo, w.NHi, w.NLo, w.Count, w.Sums[0], w.Sums[1]
	t.look = look{top: w.Top, used: w.Used, hi: w.Look[0], lo: w.Look[1], whi: w.Look[2], wlo: w.Look[3]}
	t.far.Far, t.short = w.Far, w.Short
	return nil
}
