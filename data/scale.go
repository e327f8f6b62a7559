package data

import "context"

// Scaled returns src with (x - center[j]) / scale[j] in place of every value x of column j, in float64.
func Scaled(src Source, center, scale []float64) Source {
	return &mapped{src, func(dst []float64, b *Block) {
		for i := range b.N {
			for j := range b.D {
				dst[i*b.D+j] = (b.At(i, j) - center[j]) / scale[j]
			}
		}
	}}
}

// Binarized returns src with 1 in place of every value above threshold and 0 in place of all others, in float64.
func Binarized(src Source, threshold float64) Source {
	return &mapped{src, func(dst []float64, b *Block) {
		for i := range dst {
			dst[i] = 0
		}
		for i, v := range b.F64 {
			if v > threshold {
				dst[i] = 1
			}
		}
		for i, v := range b.F32 {
			if float64(v) > threshold {
				dst[i] = 1
			}
		}
	}}
}

// mapped is a source with other values: set gives dst, N x D, those for the rows of b.
type mapped struct {
	src Source
	set func(dst []float64, b *Block)
}

func (s *mapped) Shape() (rows int64, cols int) { return s.src.Shape() }

func (s *mapped) Open(ctx context.Context) (Reader, error) {
	r, err := s.src.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &mappedReader{s: s, r: r}, nil
}

// mappedReader reads rows below and writes their new values in the memory of the block it is given.
type mappedReader struct {
	s     *mapped
	r     Reader
	below Block // its values serve for the next Read; all else belongs to the block that was given
}

func (r *mappedReader) Read(b *Block, n int) error {
	x, f64, f32 := b.F64, r.below.F64, r.below.F32
	r.below = *b
	r.below.F64, r.below.F32 = f64, f32
	if err := r.r.Read(&r.below, n); err != nil {
		*b = Block{}
		return err
	}
	*b = r.below
	b.F32 = nil
	b.F64 = resized(x, b.N*b.D)
	r.s.set(b.F64, &r.below)
	return nil
}

func (r *mappedReader) Close() error { return r.r.Close() }
