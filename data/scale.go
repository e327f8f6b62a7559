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
	if err != nil {
		return nil, err
	}
	return &scaledReader{s: s, r: r}, nil
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
	for i := range b.N {
		for j := range b.D {
			b.F64[i*b.D+j] = (below.At(i, j) - r.s.center[j]) / r.s.scale[j]
		}
	}
	return nil
}

func (r *scaledReader) Close() error { return r.r.Close() }
