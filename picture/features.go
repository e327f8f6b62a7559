package picture

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
)

// Features say what of a pixel is clustered: columns of numbers.
type Features struct {
	Columns []string // red, green, blue; L, a, b; gray for a gray picture, and its L; then x and y
	LeftOut []string // of these, columns that are the same in every visible pixel; none where all are: then they stay
	Picture *Picture

	lab      bool
	position float64
	use      []int    // for each column 0, 1, 2: a channel; 3, 4: x, y
	all      *colours // of all visible pixels; nil before they are counted
}

// Features returns the columns of a picture in a space, "rgb" (also "") or "lab", with the place of a pixel, times
// position, as two more columns where position is above 0: a distance of one pixel counts like position units of colour.
// A column that is the same everywhere tells nothing and is left out unless all are. A gray picture has one column of
// colour. A picture without a visible pixel is an error.
func (p *Picture) Features(space string, position float64) (*Features, error) {
	switch {
	case space != "" && space != "rgb" && space != "lab":
		return nil, fmt.Errorf("space %q is not known; choose one of rgb, lab", space)
	case !(position >= 0) || math.IsInf(position, 1):
		return nil, fmt.Errorf("position is %v; it must be a finite number that is not negative", position)
	case p.visible == 0:
		return nil, fmt.Errorf("%s: every pixel is fully transparent: there is nothing to segment", p.Name)
	}
	f := &Features{Picture: p, lab: space == "lab", position: position}
	one := p.constant == [3]bool{true, true, true}
	names := [3]string{"red", "green", "blue"}
	switch {
	case f.lab && p.gray:
		names = [3]string{"L"}
	case f.lab:
		names = [3]string{"L", "a", "b"}
	case p.gray:
		names = [3]string{"gray"}
	}
	for j, name := range names {
		if name != "" {
			f.add(name, j, one || !f.lab && p.constant[j])
		}
	}
	if position > 0 {
		f.add("x", 3, p.flat(func(i int) int { return i % p.Width }))
		f.add("y", 4, p.flat(func(i int) int { return i / p.Width }))
	}
	if len(f.use) == 0 { // one colour: only k-means takes it
		f.Columns, f.LeftOut = f.LeftOut[:p.Channels()], nil
		f.use = []int{0, 1, 2}[:p.Channels()]
	}
	return f, nil
}

func (f *Features) add(name string, column int, constant bool) {
	if constant {
		f.LeftOut = append(f.LeftOut, name)
		return
	}
	f.Columns, f.use = append(f.Columns, name), append(f.use, column)
}

// flat reports whether all visible pixels have the same value.
func (p *Picture) flat(value func(i int) int) bool {
	first := -1
	for i := range p.pixels() {
		if v := value(i); first < 0 {
			first = v
		} else if v != first {
			return false
		}
	}
	return true
}

// pixels goes through the numbers of the visible pixels.
func (p *Picture) pixels() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range p.Pixels() {
			if !p.Out(i) && !yield(i) {
				return
			}
		}
	}
}

// drawn goes through n of the visible pixels, drawn at random and in order; through all where n is 0 or there are no more.
func (p *Picture) drawn(n int64, seed uint64) iter.Seq[int] {
	if n <= 0 || n >= p.visible {
		return p.pixels()
	}
	return func(yield func(int) bool) {
		sample := rng.Select(rng.Pixels.New(seed), n, p.visible)
		for i := range p.pixels() {
			if sample.Take() && (!yield(i) || sample.Done()) {
				return
			}
		}
	}
}

// fill sets dst, of one value a column, to the features of a colour at pixel i.
func (f *Features) fill(dst []float64, rgb [3]float64, i int) {
	if f.lab {
		rgb = Lab(rgb)
	}
	for j, u := range f.use {
		switch u {
		case 3:
			dst[j] = f.position * float64(i%f.Picture.Width)
		case 4:
			dst[j] = f.position * float64(i/f.Picture.Width)
		default:
			dst[j] = rgb[u]
		}
	}
}

// byColour reports whether pixels of one colour have the same features and can be one row. Pictures of 16 bits have few
// such pixels.
func (f *Features) byColour() bool { return f.position == 0 && !f.Picture.Deep }

// Rows are what is fitted. Where features depend on the colour alone, pixels of one colour are one row with their number as
// its weight: the likelihood, or the cost, is the same sum.
type Rows struct {
	Table   *data.Table
	Pixels  int64 // that the rows stand for
	Colours int   // distinct colours among them; 0 where every pixel is a row of its own
}

// wide is how many rows are held as float32: 4 million rows of five columns are 160 MB as float64. Colours of 8 bits are
// the same numbers in both.
const wide = 4 << 20

// RowBytes returns how many bytes of memory Rows takes for its values and weights.
func (f *Features) RowBytes(sample int64) int64 {
	n, d := f.Picture.visible, int64(len(f.use))
	if sample > 0 {
		n = min(n, sample)
	}
	switch {
	case f.byColour():
		return min(n, int64(len(f.allColours().rgb))) * (8*d + 8)
	case n > wide:
		return n * 4 * d
	}
	return n * 8 * d
}

// Rows returns the rows of all visible pixels, or of sample of them drawn at random by seed where sample is above 0 and
// there are more.
func (f *Features) Rows(sample int64, seed uint64) *Rows {
	p := f.Picture
	r := &Rows{Pixels: p.visible}
	whole := sample <= 0 || sample >= p.visible
	if !whole {
		r.Pixels = sample
	}
	if f.byColour() {
		var c *colours
		if whole {
			c = f.allColours()
		} else {
			c = countColours(p, p.drawn(sample, seed))
		}
		r.Colours, r.Table = len(c.rgb), c.table(f, c.most(r.Pixels))
		return r
	}
	d := len(f.use)
	t := &data.Table{N: int(r.Pixels), D: d}
	if t.N > wide {
		t.F32 = make([]float32, 0, t.N*d)
	} else {
		t.F64 = make([]float64, 0, t.N*d)
	}
	row := make([]float64, d)
	for i := range p.drawn(sample, seed) {
		f.fill(row, p.RGB(i), i)
		appendRow(t, row)
	}
	r.Table = t
	return r
}

func appendRow(t *data.Table, row []float64) {
	if t.F64 != nil {
		t.F64 = append(t.F64, row...)
		return
	}
	for _, v := range row {
		t.F32 = append(t.F32, float32(v))
	}
}

// DistinctColours counts the colours of the visible pixels, most of them at most.
func (f *Features) DistinctColours(most int) int {
	if f.byColour() {
		return min(len(f.allColours().rgb), most)
	}
	p := f.Picture
	seen := map[[3]float64]struct{}{}
	for i := range p.pixels() {
		if seen[p.RGB(i)] = struct{}{}; len(seen) >= most {
			break
		}
	}
	return len(seen)
}

// pixelSource reads the features of every visible pixel, in order, without holding them.
type pixelSource struct{ f *Features }

// Shape implements data.Source.
func (s pixelSource) Shape() (int64, int) { return s.f.Picture.visible, len(s.f.use) }

// Open implements data.Source.
func (s pixelSource) Open(context.Context) (data.Reader, error) { return &pixelReader{f: s.f}, nil }

type pixelReader struct {
	f    *Features
	at   int // the next pixel
	rows int64
}

// Read implements data.Reader.
func (r *pixelReader) Read(b *data.Block, n int) error {
	p, d := r.f.Picture, len(r.f.use)
	b.F64, b.D, b.First = b.F64[:0], d, r.rows
	row := make([]float64, d)
	for b.N = 0; b.N < n && r.at < p.Pixels(); r.at++ {
		if p.Out(r.at) {
			continue
		}
		r.f.fill(row, p.RGB(r.at), r.at)
		b.F64 = append(b.F64, row...)
		b.N++
	}
	if b.N == 0 {
		return io.EOF
	}
	r.rows += int64(b.N)
	return nil
}

// Close implements data.Reader.
func (r *pixelReader) Close() error { return nil }
