package family

import (
	"encoding/gob"

	"github.com/latent-go/latent/internal/transit"
)

// Families are sent to where the rows are by encoding/gob.
func init() {
	for _, f := range []Family{Gaussian{}, Bayes{}, Parsimonious{}, Factors{}, WideFactors{}, Student{}, Bernoulli{}, Categorical{}, Poisson{}, KMeans{}, Mixed{}} {
		gob.Register(f)
	}
}

// gapsWire is Gaps as they are sent.
type gapsWire struct {
	D     int
	Masks []uint64
	Rows  []int64
	Part  []int32
}

// GobEncode implements gob.GobEncoder.
func (g *Gaps) GobEncode() ([]byte, error) {
	return transit.Encode(gapsWire{g.D, g.masks, g.rows, g.part})
}

// GobDecode implements gob.GobDecoder.
func (g *Gaps) GobDecode(b []byte) error {
	var w gapsWire
	if err := transit.Decode(b, &w); err != nil {
		return err
	}
	*g = *NewGaps(w.D)
	for p, rows := range w.Rows {
		g.Add(w.Masks[p*g.words:(p+1)*g.words], rows)
	}
	g.part = w.Part
	return nil
}
