package picture

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// Values of B. Lindbloom's calculator for sRGB and D65, to four digits, which are those in common use.
func TestLabOfKnownColours(t *testing.T) {
	for _, c := range []struct{ rgb, lab [3]float64 }{
		{[3]float64{0, 0, 0}, [3]float64{0, 0, 0}},
		{[3]float64{255, 255, 255}, [3]float64{100, 0, 0}},
		{[3]float64{255, 0, 0}, [3]float64{53.2408, 80.0925, 67.2032}},
		{[3]float64{0, 255, 0}, [3]float64{87.7347, -86.1827, 83.1793}},
		{[3]float64{0, 0, 255}, [3]float64{32.2970, 79.1875, -107.8602}},
		{[3]float64{255, 255, 0}, [3]float64{97.1393, -21.5537, 94.4780}},
		{[3]float64{0, 255, 255}, [3]float64{91.1132, -48.0875, -14.1312}},
		{[3]float64{255, 0, 255}, [3]float64{60.3242, 98.2343, -60.8249}},
		{[3]float64{119, 119, 119}, [3]float64{50.0344, 0, 0}},
	} {
		near(t, fmt.Sprint(c.rgb), Lab(c.rgb), c.lab, 2e-4)
	}
	for v := range 256 { // gray has no colour
		if lab := Lab([3]float64{float64(v), float64(v), float64(v)}); math.Abs(lab[1]) > 1e-12 || math.Abs(lab[2]) > 1e-12 {
			t.Fatalf("gray %d: %v", v, lab)
		}
	}
}

func TestColumnsAreThoseThatVary(t *testing.T) {
	paint := func(w, h int, at func(x, y int) color.NRGBA) *Picture {
		m := image.NewNRGBA(image.Rect(0, 0, w, h))
		for i := range w * h {
			m.SetNRGBA(i%w, i/w, at(i%w, i/w))
		}
		return fromImage(m, m.Rect, 1)
	}
	rgb := paint(3, 2, func(x, y int) color.NRGBA { return color.NRGBA{uint8(x), uint8(y), uint8(x + y), 255} })
	noBlue := paint(3, 2, func(x, y int) color.NRGBA { return color.NRGBA{uint8(x), uint8(y), 7, 255} })
	gray := paint(3, 1, func(x, _ int) color.NRGBA { return color.NRGBA{uint8(x), uint8(x), uint8(x), 255} })
	one := paint(1, 3, func(_, _ int) color.NRGBA { return color.NRGBA{1, 2, 3, 255} })
	hidden := paint(3, 1, func(x, _ int) color.NRGBA { return color.NRGBA{uint8(x), 5, 5, uint8(255 * (x % 2))} }) // one pixel is seen
	for _, c := range []struct {
		what          string
		p             *Picture
		space         string
		position      float64
		want, leftOut []string
	}{
		{"colour", rgb, "", 0, []string{"red", "green", "blue"}, nil},
		{"colour in Lab", rgb, "lab", 0, []string{"L", "a", "b"}, nil},
		{"a constant channel", noBlue, "rgb", 0, []string{"red", "green"}, []string{"blue"}},
		{"with places", noBlue, "rgb", 2, []string{"red", "green", "x", "y"}, []string{"blue"}},
		{"gray", gray, "rgb", 0, []string{"gray"}, nil},
		{"gray in Lab", gray, "lab", 0, []string{"L"}, nil},
		{"a line of gray", gray, "rgb", 1, []string{"gray", "x"}, []string{"y"}},
		{"one colour", one, "rgb", 0, []string{"red", "green", "blue"}, nil},
		{"one colour in a column", one, "lab", 1, []string{"y"}, []string{"L", "a", "b", "x"}},
		{"one visible pixel", hidden, "rgb", 1, []string{"red", "green", "blue"}, nil},
	} {
		f, err := c.p.Features(c.space, c.position)
		if err != nil || !slices.Equal(f.Columns, c.want) || !slices.Equal(f.LeftOut, c.leftOut) {
			t.Errorf("%s: %v, left out %v, %v; want %v and %v", c.what, f.Columns, f.LeftOut, err, c.want, c.leftOut)
		}
	}
	if _, err := paint(3, 1, func(_, _ int) color.NRGBA { return color.NRGBA{1, 2, 3, 0} }).Features("", 0); err == nil {
		t.Error("a picture without a visible pixel has features")
	}
	for _, err := range []error{second(rgb.Features("hsv", 0)), second(rgb.Features("", -1)), second(rgb.Features("", math.NaN())), second(rgb.Features("", math.Inf(1)))} {
		if err == nil {
			t.Error("features of nonsense")
		}
	}
}

func second[T any](_ T, err error) error { return err }

// noise is a picture of many colours: pixels uniform in a cube of the given side, but for a share that are all the same.
func noise(w, h, side int, same float64) *Picture {
	rng := rand.New(rand.NewPCG(1, 2))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		c := color.NRGBA{uint8(rng.IntN(side)), uint8(rng.IntN(side)), uint8(rng.IntN(side)), 255}
		if rng.Float64() < same {
			c = color.NRGBA{200, 200, 201, 255}
		}
		m.SetNRGBA(i%w, i/w, c)
	}
	return fromImage(m, m.Rect, 1)
}

// rowOfEveryPixel is the picture as a table without the trick: a row a pixel.
func rowOfEveryPixel(p *Picture) *data.Table {
	t := &data.Table{N: p.Pixels(), D: 3}
	for i := range p.Pixels() {
		c := p.RGB(i)
		t.F64 = append(t.F64, c[:]...)
	}
	return t
}

// Pixels of one colour as one row of their number's weight: likelihood, cost and labels are those of a row a pixel.
func TestWeightedColoursAreThePixels(t *testing.T) {
	ctx, p := context.Background(), noise(60, 50, 12, 0.3)
	f, err := p.Features("rgb", 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := f.Rows(0, 1)
	if rows.Pixels != 3000 || rows.Colours >= 1800 || rows.Table.N != rows.Colours {
		t.Fatalf("%d pixels, %d colours, %d rows", rows.Pixels, rows.Colours, rows.Table.N)
	}
	centers := [][]float64{{2, 2, 2}, {9, 9, 9}, {200, 200, 200}}
	for _, m := range []string{"gmm", "kmeans", "kmedians"} {
		spec := latent.Spec{Model: m, K: 3, Init: "centers", Centers: centers, MaxIter: new(5)}
		if m == "gmm" {
			spec.Covariance = "tied"
		}
		a, err := latent.Fit(ctx, rows.Table, spec)
		if err != nil {
			t.Fatal(err)
		}
		b, err := latent.Fit(ctx, rowOfEveryPixel(p), spec)
		if err != nil {
			t.Fatal(err)
		}
		x, y := a.Inertia, b.Inertia
		if m == "gmm" {
			x, y = a.BIC, b.BIC
		}
		if a.TotalWeight != 3000 || !(math.Abs(*x-*y) <= 1e-9*math.Abs(*y)) {
			t.Errorf("%s: weight %v, %v by colours and %v by pixels", m, a.TotalWeight, *x, *y)
		}
		s, err := f.Segment(ctx, a.Model, 1)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		err = a.Model.Rows(ctx, rowOfEveryPixel(p), 1, func(b *model.Scored) error {
			for _, l := range b.Label {
				if s.Label[at] != uint16(l) {
					t.Fatalf("%s: pixel %d has label %d, its row %d", m, at, s.Label[at], l)
				}
				at++
			}
			return nil
		})
		if err != nil || at != 3000 {
			t.Fatal(at, err)
		}
	}
}

// Where starts are drawn from a uniform sample of rows, no row stands for more than one pixel in 10,000, so that a colour
// of a third of the picture is neither missed nor taken for more.
func TestHeavyColoursAreSeveralRows(t *testing.T) {
	p := noise(400, 300, 256, 1.0/3)
	f, err := p.Features("", 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := f.Rows(0, 1)
	if rows.Colours < 70_000 || rows.Table.N < rows.Colours+3000 || rows.Table.N > rows.Colours+10_000 {
		t.Fatalf("%d rows of %d colours", rows.Table.N, rows.Colours)
	}
	total, heavy, most := 0.0, 0.0, 0.0
	for i, w := range rows.Table.W {
		total, most = total+w, max(most, w)
		if rows.Table.At(i, 0) == 200 && rows.Table.At(i, 1) == 200 && rows.Table.At(i, 2) == 201 {
			heavy += w
		}
	}
	if total != 120_000 || most > 12 || !(heavy > 38_000 && heavy < 42_000) {
		t.Errorf("total %v, %v of the heavy colour, %v in one row", total, heavy, most)
	}
}

func TestSampleOfPixels(t *testing.T) {
	p := noise(50, 40, 256, 0)
	p.alpha8 = make([]uint8, 2000)
	for i := range p.alpha8 {
		p.alpha8[i] = uint8(255 * min(1, i%3))
	}
	p.visible, p.gray, p.constant = 0, false, [3]bool{}
	p.survey()
	for _, position := range []float64{0, 1} {
		f, err := p.Features("", position)
		if err != nil {
			t.Fatal(err)
		}
		a, b, c := f.Rows(100, 1), f.Rows(100, 1), f.Rows(100, 2)
		sum := float64(a.Table.N)
		if a.Table.W != nil {
			sum = 0
			for _, w := range a.Table.W {
				sum += w
			}
		}
		if a.Pixels != 100 || sum != 100 || !slices.Equal(a.Table.F64, b.Table.F64) || slices.Equal(a.Table.F64, c.Table.F64) {
			t.Errorf("position %g: %d pixels, weight %v, or the seed does not decide", position, a.Pixels, sum)
		}
		if all := f.Rows(1_000_000, 1); all.Pixels != p.Visible() {
			t.Errorf("%d of %d pixels in a sample of more", all.Pixels, p.Visible())
		}
	}
	count := make([]int, 2000) // every visible pixel is as likely as another: 300 of 1333 in each of 400 draws
	for seed := range uint64(400) {
		for i := range p.drawn(300, seed) {
			count[i]++
		}
	}
	mean, sd := 400*300/1333.0, math.Sqrt(400*300/1333.0*(1-300/1333.0))
	for i, n := range count {
		if p.Out(i) && n > 0 || !p.Out(i) && math.Abs(float64(n)-mean) > 5.5*sd {
			t.Errorf("pixel %d was drawn %d times, expected %.0f", i, n, mean)
		}
	}
}

func TestFeaturesOfAPixel(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	copy(m.Pix, []uint8{255, 0, 0, 255, 9, 9, 9, 0, 0, 255, 0, 255, 0, 0, 255, 7}) // red, nothing, green, blue
	p := fromImage(m, m.Rect, 1)
	f, err := p.Features("lab", 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{53.2408, 80.0925, 67.2032, 0, 0, 87.7347, -86.1827, 83.1793, 0, 3, 32.2970, 79.1875, -107.8602, 3, 3}
	got := f.Rows(0, 1)
	var read []float64
	r, err := pixelSource{f}.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var b data.Block
	for r.Read(&b, 2) == nil {
		read = append(read, b.F64...)
	}
	for _, rows := range [][]float64{got.Table.F64, read} {
		if !slices.EqualFunc(rows, want, func(a, b float64) bool { return math.Abs(a-b) < 2e-4 }) {
			t.Errorf("%v, want %v", rows, want)
		}
	}
	if f.DistinctColours(99) != 3 || f.DistinctColours(2) != 2 {
		t.Errorf("%d colours", f.DistinctColours(99))
	}
}
