package picture

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/seed"
)

// colours are the distinct colours of pixels of 8 bits, along Morton's curve.
type colours struct {
	rgb   [][3]uint8
	count []uint32 // pixels of each
	// place holds the index of a colour, plus 1, at [red<<8|green][blue]. Photographs fill a few thousand of its blocks; a
	// flat table of all colours would be 64 MB, and a hash map several times slower.
	place [1 << 16]*[256]uint32
}

func countColours(p *Picture, pixels iter.Seq[int]) *colours {
	c := new(colours)
	for i := range pixels {
		s := p.rgb8[3*i : 3*i+3]
		b := &c.place[int(s[0])<<8|int(s[1])]
		if *b == nil {
			*b = new([256]uint32)
		}
		(*b)[s[2]]++
	}
	for rg, block := range c.place {
		if block == nil {
			continue
		}
		for b, n := range block {
			if n > 0 {
				c.rgb = append(c.rgb, [3]uint8{uint8(rg >> 8), uint8(rg), uint8(b)})
				c.count = append(c.count, n)
			}
		}
	}
	c.sort()
	return c
}

// sort puts the colours along Morton's curve (1966), which takes the bits of red, green and blue in turn: colours that
// follow one another are alike in all three, and mixtures skip the components that are far from a run of rows.
func (c *colours) sort() {
	type counted struct {
		key, count uint32
		rgb        [3]uint8
	}
	all := make([]counted, len(c.rgb))
	for i, v := range c.rgb {
		all[i] = counted{morton(v), c.count[i], v}
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Compare(a.key, b.key) })
	for i, v := range all {
		c.rgb[i], c.count[i] = v.rgb, v.count
		c.place[int(v.rgb[0])<<8|int(v.rgb[1])][v.rgb[2]] = uint32(i + 1)
	}
}

// morton returns the bits of the three values in turn, the highest first.
func morton(v [3]uint8) (key uint32) {
	for bit := 7; bit >= 0; bit-- {
		for _, b := range v {
			key = key<<1 | uint32(b>>bit&1)
		}
	}
	return key
}

// of returns the index of the colour of pixel i, which must have been counted.
func (c *colours) of(p *Picture, i int) int {
	s := p.rgb8[3*i : 3*i+3]
	return int(c.place[int(s[0])<<8|int(s[1])][s[2]]) - 1
}

// allColours returns the colours of all visible pixels. They are counted once.
func (f *Features) allColours() *colours {
	if f.all == nil {
		f.all = countColours(f.Picture, f.Picture.pixels())
	}
	return f.all
}

// fairRows is how many rows a colour would become that all pixels have, where starts are drawn from a sample.
const fairRows = 10_000

// most is how many pixels a row may stand for. Starts are drawn from a uniform sample of rows where there are more than
// seed.SampleRows: there a colour of very many pixels becomes several rows, so that the sample neither misses it nor counts
// it for more than it is.
func (c *colours) most(pixels int64) int64 {
	if len(c.rgb) > seed.SampleRows {
		return max(1, pixels/fairRows)
	}
	return math.MaxUint32
}

// table makes rows of the colours, none for more than most pixels.
func (c *colours) table(f *Features, most int64) *data.Table {
	n := 0
	for _, w := range c.count {
		n += int((int64(w) + most - 1) / most)
	}
	t := &data.Table{N: n, D: len(f.use), W: make([]float64, 0, n)}
	if n > wide {
		t.F32 = make([]float32, 0, n*t.D)
	} else {
		t.F64 = make([]float64, 0, n*t.D)
	}
	row := make([]float64, t.D)
	for i, s := range c.rgb {
		f.fill(row, [3]float64{float64(s[0]), float64(s[1]), float64(s[2])}, 0)
		for left := int64(c.count[i]); left > 0; left -= most {
			appendRow(t, row)
			t.W = append(t.W, float64(min(left, most)))
		}
	}
	return t
}
