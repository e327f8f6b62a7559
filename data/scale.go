package data

import "context"

// Scaled returns src with (x - center[j]) / scale[j] in place of every value x of column j, in float64.
func Scaled(src Source, center, scale []float64) Source { return &scaled{src, center, scale} }

type scaled struct {
	src           Source
	center, scale []float64
}

func (s *scaled) Shape() (rows int64, cols int) { return s.src.Shape() }

func (s *scaled) Open(ctx context.Context) (Reader, error) {
	r, err := s.src.Open(ctx)
	return &scaledReader{s: s, r: r}, err
}

type scaledReader struct {
	s *scaled
	r Reader
}

func (r *scaledReader) Read(b *Block, n int) error {
	// A block of its own each time: b shares its weights and names. Not one kept for every b: a pass that hands out
	// new blocks would hold all rows at its end.
	below, x := new(Block), b.F64
	if err := r.r.Read(below, n); err != nil {
		*b = Block{}
		return err
	}
	*b = *below
	b.F32 = nil
	if cap(x) < b.N*b.D {
		x = make([]float64, b.N*b.D)
	}
	b.F64 = x[:b.N*b.D]
	for i := range b.F64 {
		j := i % b.D
		v := 0.0
		if below.F64 != nil {
			v = below.F64[i]
		} else {
			v = float64(below.F32[i])
		}
		b.F64[i] = (v - r.s.center[j]) / r.s.scale[j]
	}
	return nil
}

func (r *scaledReader) Close() error { return r.r.Close() }
