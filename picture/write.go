package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"github.com/latent-go/latent/data"
)

// encoder packs well enough and fast: these pictures have few colours. Its buffers are used again.
var encoder = png.Encoder{}

// rgb8 is the colour of a segment as a picture has it.
func (s *Segment) rgb8() color.NRGBA {
	v := func(j int) uint8 { return uint8(min(max(math.Round(s.Color[j]), 0), 255)) }
	return color.NRGBA{R: v(0), G: v(1), B: v(2), A: 255}
}

// Image returns the picture with every pixel in its segment's mean colour, rounded to 8 bits: with a palette where the
// colours fit in one. Opacity stays as it was.
func (s *Segments) Image() image.Image {
	p := s.Picture
	colour := make([]color.NRGBA, s.K)
	for _, g := range s.Segment {
		colour[g.Label-1] = g.rgb8()
	}
	outside := 0 // entries for the pixels outside
	if p.visible < int64(p.Pixels()) {
		outside = 1
	}
	frame := image.Rect(0, 0, p.Width, p.Height)
	if len(s.Segment)+outside > 256 || p.translucent() {
		m := image.NewNRGBA(frame)
		for i, l := range s.Label {
			if l != Outside {
				c := colour[l]
				m.Pix[4*i], m.Pix[4*i+1], m.Pix[4*i+2], m.Pix[4*i+3] = c.R, c.G, c.B, p.opacity(i)
			}
		}
		return m
	}
	palette := make(color.Palette, 0, len(s.Segment)+outside)
	entry := make([]uint8, s.K)
	for i, g := range s.Segment {
		entry[g.Label-1] = uint8(i)
		palette = append(palette, colour[g.Label-1])
	}
	if outside > 0 {
		palette = append(palette, color.NRGBA{})
	}
	m := image.NewPaletted(frame, palette)
	for i, l := range s.Label {
		if l == Outside {
			m.Pix[i] = uint8(len(palette) - 1)
		} else {
			m.Pix[i] = entry[l]
		}
	}
	return m
}

// WritePNG writes Image as a PNG.
func (s *Segments) WritePNG(w io.Writer) error { return encoder.Encode(w, s.Image()) }

// WriteMap writes the labels as a gray PNG: the value of a pixel is its label less 1, and K where it belongs to no
// segment. Samples have 8 bits where that many values fit, else 16.
func (s *Segments) WriteMap(w io.Writer) error {
	p := s.Picture
	frame := image.Rect(0, 0, p.Width, p.Height)
	values := s.K
	if p.visible < int64(p.Pixels()) {
		values++
	}
	value := func(l uint16) int {
		if l == Outside {
			return s.K
		}
		return int(l)
	}
	if values <= 256 {
		m := image.NewGray(frame)
		for i, l := range s.Label {
			m.Pix[i] = uint8(value(l))
		}
		return encoder.Encode(w, m)
	}
	m := image.NewGray16(frame)
	for i, l := range s.Label {
		v := value(l)
		m.Pix[2*i], m.Pix[2*i+1] = uint8(v>>8), uint8(v)
	}
	return encoder.Encode(w, m)
}

// Mask returns the picture of one segment: white where its pixels are, black elsewhere.
func (s *Segments) Mask(label int) image.Image {
	m := image.NewPaletted(image.Rect(0, 0, s.Picture.Width, s.Picture.Height), color.Palette{color.Gray{0}, color.Gray{255}})
	for i, l := range s.Label {
		if l != Outside && int(l) == label-1 {
			m.Pix[i] = 1
		}
	}
	return m
}

// WriteMask writes Mask as a PNG.
func (s *Segments) WriteMask(w io.Writer, label int) error { return encoder.Encode(w, s.Mask(label)) }

// WriteLabels writes a table of labels, x,y,label: a line a visible pixel, in reading order; x and y count from 0 at the
// top left.
func (s *Segments) WriteLabels(w io.Writer, format string) error {
	out, err := data.Create(w, format, []data.OutColumn{{Name: "x"}, {Name: "y"}, {Name: "label"}})
	if err != nil {
		return err
	}
	for i, l := range s.Label {
		if l == Outside {
			continue
		}
		out.Int(int64(i % s.Picture.Width))
		out.Int(int64(i / s.Picture.Width))
		out.Int(int64(l) + 1)
		if err := out.End(); err != nil {
			return err
		}
	}
	return out.Close()
}

// WritePalette writes a table of the segments: label,red,green,blue,pixels,share,hex. The colours are not rounded, but for hex,
// their usual spelling #rrggbb; NPY, which holds no text, has no such column.
func (s *Segments) WritePalette(w io.Writer, format string) error {
	cols := []data.OutColumn{{Name: "label"}, {Name: "red", Kind: data.Float}, {Name: "green", Kind: data.Float}, {Name: "blue", Kind: data.Float},
		{Name: "pixels"}, {Name: "share", Kind: data.Float}}
	if format != "npy" {
		cols = append(cols, data.OutColumn{Name: "hex", Kind: data.Text})
	}
	out, err := data.Create(w, format, cols)
	if err != nil {
		return err
	}
	for _, g := range s.Segment {
		out.Int(int64(g.Label))
		out.Floats(g.Color[:])
		out.Int(g.Pixels)
		out.Float(g.Share)
		if format != "npy" {
			out.Text(g.Hex())
		}
		if err := out.End(); err != nil {
			return err
		}
	}
	return out.Close()
}

// Hex returns the colour as #rrggbb, rounded.
func (s *Segment) Hex() string {
	c := s.rgb8()
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// Thumbnail returns m with at most most pixels: every n-th pixel of every n-th row, so that no colour appears that m does
// not have.
func Thumbnail(m image.Image, most int) image.Image {
	b := m.Bounds()
	n := max(1, int(math.Ceil(math.Sqrt(float64(b.Dx())*float64(b.Dy())/float64(most)))))
	if n == 1 {
		return m
	}
	small := image.NewNRGBA(image.Rect(0, 0, (b.Dx()+n-1)/n, (b.Dy()+n-1)/n))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			small.Set(x, y, m.At(b.Min.X+x*n, b.Min.Y+y*n))
		}
	}
	return small
}

// Image returns a view of the picture itself with 8 bits a sample.
func (p *Picture) Image() image.Image { return view{p} }

type view struct{ p *Picture }

// ColorModel implements image.Image.
func (v view) ColorModel() color.Model { return color.NRGBAModel }

// Bounds implements image.Image.
func (v view) Bounds() image.Rectangle { return image.Rect(0, 0, v.p.Width, v.p.Height) }

// At implements image.Image.
func (v view) At(x, y int) color.Color {
	i := y*v.p.Width + x
	c := v.p.RGB(i)
	return color.NRGBA{R: uint8(math.Round(c[0])), G: uint8(math.Round(c[1])), B: uint8(math.Round(c[2])), A: v.p.opacity(i)}
}

// Opaque reports whether no pixel lets anything shine through.
func (v view) Opaque() bool { return v.p.alpha8 == nil && v.p.alpha16 == nil }
