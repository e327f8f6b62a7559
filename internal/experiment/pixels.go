package experiment

import (
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
)

// pixels are an image whose pixels are rows of a table.
type pixels struct {
	width, height int
	rgb           []uint8 // 3 numbers a pixel, row by row
	centre        []bool  // pixels of the yellow centres; nil where they are not known
}

// newPixels takes the pixels of an image; centre may be nil.
func newPixels(width, height int, rgb []uint8, centre []bool) *pixels {
	return &pixels{width: width, height: height, rgb: rgb, centre: centre}
}

// rows returns the raw RGB values, each with a uniform random part of half a level up or down. Without it a component
// could collapse onto one grey level, which many pixels share exactly, and raise the likelihood without limit.
func (p *pixels) rows(seed uint64) *data.Table {
	rng := rng.Dither.New(seed)
	t := &data.Table{N: p.width * p.height, D: 3, F64: make([]float64, len(p.rgb))}
	for i, v := range p.rgb {
		t.F64[i] = float64(v) + rng.Float64() - 0.5
	}
	return t
}

// segments is a picture cut into the pixels of each component.
type segments struct {
	label  []int32
	colour [][3]float64 // mean of each segment's pixels
	count  []int
	mse    float64 // root of the squares summed over pixels and channels
}

// segment cuts the picture by labels from 0 to k-1.
func (p *pixels) segment(label []int32, k int) *segments {
	s := &segments{label: label, colour: make([][3]float64, k), count: make([]int, k)}
	for i, c := range label {
		s.count[c]++
		for j := range 3 {
			s.colour[c][j] += float64(p.rgb[3*i+j])
		}
	}
	for c, n := range s.count {
		for j := range 3 {
			s.colour[c][j] /= math.Max(float64(n), 1)
		}
	}
	sum := 0.0
	for i, c := range label {
		for j, m := range s.colour[c] {
			d := float64(p.rgb[3*i+j]) - m
			sum += d * d
		}
	}
	s.mse = math.Sqrt(sum)
	return s
}

// OwnRule says in words what it takes for the yellow centres to have a segment of their own.
const OwnRule = "one segment holds at least half of the centre pixels, and at least half of its pixels are centre pixels"

// own returns the segment that is the yellow centres' own, -1 without one.
func (s *segments) own(p *pixels) int {
	in, all := make([]int, len(s.count)), 0
	for i, c := range s.label {
		if p.centre[i] {
			in[c]++
			all++
		}
	}
	for c, n := range in {
		if n > 0 && 2*n >= all && 2*n >= s.count[c] {
			return c
		}
	}
	return -1
}

// repainted returns the picture with every pixel its segment's mean colour.
func (s *segments) repainted() []uint8 {
	out := make([]uint8, 0, 3*len(s.label))
	for _, c := range s.label {
		for _, v := range s.colour[c] {
			out = append(out, uint8(math.Round(v)))
		}
	}
	return out
}
