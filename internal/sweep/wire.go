package sweep

import (
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/transit"
)

// momentsWire is moments as they are sent.
type momentsWire struct {
	Rows, Used                     int64
	W, Heaviest                    float64
	Mean, M2, Seen, Least, Largest []float64
	Gaps                           *family.Gaps
	Missing, Incomplete, Empty     int64
}

// GobEncode implements gob.GobEncoder.
func (m *moments) GobEncode() ([]byte, error) {
	return transit.Encode(momentsWire{m.rows, m.used, m.w, m.heaviest, m.mean, m.m2, m.seen, m.least, m.largest, m.gaps, m.missing, m.incomplete, m.empty})
}

// GobDecode implements gob.GobDecoder.
func (m *moments) GobDecode(b []byte) error {
	var w momentsWire
	err := transit.Decode(b, &w)
	*m = moments{w.Rows, w.Used, w.W, w.Heaviest, w.Mean, w.M2, w.Seen, w.Least, w.Largest, w.Gaps, w.Missing, w.Incomplete, w.Empty}
	return err
}

// outerWire is the sum of outer products as it is sent.
type outerWire struct {
	Sum         []float64
	Rows        int64
	Weight, All float64
}

// GobEncode implements gob.GobEncoder.
func (o *outer) GobEncode() ([]byte, error) {
	return transit.Encode(outerWire{o.sum, o.rows, o.weight, o.all})
}

// GobDecode implements gob.GobDecoder.
func (o *outer) GobDecode(b []byte) error {
	var w outerWire
	err := transit.Decode(b, &w)
	*o = outer{w.Sum, w.Rows, w.Weight, w.All}
	return err
}
