package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"
)

func labelled(t *testing.T, p *Picture, label []uint16, k int) *Segments {
	t.Helper()
	s, err := p.FromLabels(label, k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func written(t *testing.T, write func(b *bytes.Buffer) error) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Means, counts and distances against sums written out.
func TestSegmentsOfLabels(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	copy(m.Pix, []uint8{10, 0, 1, 255, 20, 0, 3, 255, 99, 99, 99, 0, 0, 0, 0, 128, 0, 9, 0, 255, 0, 0, 6, 255})
	p := fromImage(m, m.Rect, 1)
	s := labelled(t, p, []uint16{3, 3, 0, 1, 1, 1}, 4)
	want := []Segment{{Label: 2, Color: [3]float64{0, 3, 2}, Pixels: 3, Share: 0.6}, {Label: 4, Color: [3]float64{15, 0, 2}, Pixels: 2, Share: 0.4}}
	if len(s.Segment) != 2 || s.Segment[0] != want[0] || s.Segment[1] != want[1] {
		t.Fatalf("%v, want %v", s.Segment, want)
	}
	squares := 25.0 + 1 + 25 + 1 + (9 + 4) + (36 + 4) + (9 + 16)
	if math.Abs(s.MSE-math.Sqrt(squares)) > 1e-12 || math.Abs(s.RMSE-math.Sqrt(squares/15)) > 1e-12 {
		t.Errorf("mse %v, rmse %v, want %v and %v", s.MSE, s.RMSE, math.Sqrt(squares), math.Sqrt(squares/15))
	}
	if small := s.Smallest(1); len(small) != 1 || small[0].Label != 4 {
		t.Errorf("the smallest are %v", small)
	}

	out := written(t, func(b *bytes.Buffer) error { return s.WritePNG(b) })
	for i, want := range []color.NRGBA{{15, 0, 2, 255}, {15, 0, 2, 255}, {}, {0, 3, 2, 128}, {0, 3, 2, 255}, {0, 3, 2, 255}} {
		if got := color.NRGBAModel.Convert(out.At(i%3, i/3)); got != want {
			t.Errorf("pixel %d is %v, want %v", i, got, want)
		}
	}
	labels := written(t, func(b *bytes.Buffer) error { return s.WriteMap(b) }).(*image.Gray)
	if !bytes.Equal(labels.Pix, []uint8{3, 3, 4, 1, 1, 1}) {
		t.Errorf("map %v", labels.Pix)
	}
	mask := written(t, func(b *bytes.Buffer) error { return s.WriteMask(b, 4) })
	for i, want := range []bool{true, true, false, false, false, false} {
		if r, _, _, _ := mask.At(i%3, i/3).RGBA(); (r == 0xffff) != want || r != 0 && r != 0xffff {
			t.Errorf("mask of 4, pixel %d: %v", i, mask.At(i%3, i/3))
		}
	}
	var table, palette bytes.Buffer
	if err := s.WriteLabels(&table, "csv"); err != nil {
		t.Fatal(err)
	}
	if got := table.String(); got != "x,y,label\n0,0,4\n1,0,4\n0,1,2\n1,1,2\n2,1,2\n" {
		t.Errorf("labels %q", got)
	}
	if err := s.WritePalette(&palette, "csv"); err != nil {
		t.Fatal(err)
	}
	if got := palette.String(); got != "label,red,green,blue,pixels,share,hex\n2,0,3,2,3,0.6,#000302\n4,15,0,2,2,0.4,#0f0002\n" {
		t.Errorf("palette %q", got)
	}
}

// A gray picture has one channel: the sums of its squares do not count it three times.
func TestErrorOfAGrayPicture(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 4, 1))
	copy(m.Pix, []uint8{10, 12, 250, 252})
	s := labelled(t, decode(t, m), []uint16{0, 0, 1, 1}, 2)
	if s.MSE != 2 || s.RMSE != 1 || s.Segment[0].Color != [3]float64{11, 11, 11} || s.Segment[1].Color[2] != 251 {
		t.Errorf("mse %v, rmse %v, %v", s.MSE, s.RMSE, s.Segment)
	}
}

// Labels beyond 255 do not wrap: 256 segments fit in 8 bits, one more, or a pixel of none, does not.
func TestManySegments(t *testing.T) {
	for _, c := range []struct {
		k, outside int
		deep       bool
	}{{255, 1, false}, {256, 0, false}, {256, 1, true}, {257, 0, true}, {40_000, 0, true}} {
		n := c.k + c.outside
		m := image.NewNRGBA(image.Rect(0, 0, n, 1))
		label := make([]uint16, n)
		for i := range n {
			a := uint8(255)
			if i >= c.k {
				a = 0
			}
			m.SetNRGBA(i, 0, color.NRGBA{uint8(i), uint8(i >> 8), 1, a})
			label[i] = uint16(i)
		}
		s := labelled(t, fromImage(m, m.Rect, 1), label, c.k+1)
		if s.MSE != 0 || len(s.Segment) != c.k {
			t.Fatalf("%d segments, mse %v", len(s.Segment), s.MSE)
		}
		s.K = c.k
		labels := written(t, func(b *bytes.Buffer) error { return s.WriteMap(b) })
		if _, deep := labels.(*image.Gray16); deep != c.deep {
			t.Errorf("%d segments and %d pixels outside: the map is a %T", c.k, c.outside, labels)
		}
		out := written(t, func(b *bytes.Buffer) error { return s.WritePNG(b) })
		for i := range n {
			got, want := color.NRGBAModel.Convert(out.At(i, 0)), m.NRGBAAt(i, 0)
			if want.A == 0 {
				want = color.NRGBA{}
			}
			v := color.Gray16Model.Convert(labels.At(i, 0)).(color.Gray16).Y
			if !c.deep {
				v = uint16(color.GrayModel.Convert(labels.At(i, 0)).(color.Gray).Y)
			}
			if got != want || int(v) != i {
				t.Fatalf("%d segments: pixel %d is %v in segment %d, want %v", c.k, i, got, v, want)
			}
		}
	}
}

func TestLabelsThatDoNotFit(t *testing.T) {
	p := decode(t, image.NewGray(image.Rect(0, 0, 2, 1)))
	for _, c := range []struct {
		label []uint16
		k     int
		want  string
	}{{[]uint16{0}, 1, "1 label for 2 pixels"}, {[]uint16{0, 3}, 3, "label 3"}, {[]uint16{0, 0}, 0, "0 segments"}, {[]uint16{0, 0}, 70_000, "65535"}} {
		if _, err := p.FromLabels(c.label, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v of %d: %v, want %q", c.label, c.k, err, c.want)
		}
	}
}

// A thumbnail has few pixels and only colours of the picture.
func TestThumbnail(t *testing.T) {
	p := noise(200, 100, 256, 0)
	small := Thumbnail(p.Image(), 1000).Bounds()
	if small.Dx()*small.Dy() > 1000 || small.Dx() != 2*small.Dy() {
		t.Errorf("%v", small)
	}
	got, want := Thumbnail(p.Image(), 1000).At(1, 1), p.Image().At(5, 5) // a fifth of each side
	if color.NRGBAModel.Convert(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	if same := Thumbnail(p.Image(), 20_000); same != p.Image() {
		t.Error("a picture that is small enough was changed")
	}
}
