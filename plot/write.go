package plot

import (
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// WriteSVG writes the figure as a file of its own, dark or light as the viewer's reader prefers. It fails if w does.
func (f *Figure) WriteSVG(w io.Writer) error {
	b, err := f.svg(true)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// Inline returns the figure as an svg element to put into a page, which should hold [CSS] once. All text in it is escaped.
func (f *Figure) Inline() (string, error) {
	b, err := f.svg(false)
	return string(b), err
}

func (f *Figure) svg(alone bool) ([]byte, error) {
	w, h := f.size()
	c := newSVG(vg.Length(h), alone)
	namespace, style := "", ""
	if alone {
		namespace, style = ` xmlns="http://www.w3.org/2000/svg"`, darkStyle()
	}
	what := f.description()
	title := oneLine(f.Title)
	if title == "" {
		title = what
	}
	fmt.Fprintf(&c.buf, `<svg%s width="%s" height="%s" viewBox="0 0 %s %s" style="max-width:100%%;height:auto" role="img" aria-label="%s" font-family="%s">`+"\n",
		namespace, decimal(w), decimal(h), decimal(w), decimal(h), escape(title), fontStack)
	fmt.Fprintf(&c.buf, "<title>%s</title>\n<desc>%s</desc>\n%s", escape(title), escape(what), style)
	p, err := newPen(c, vg.Length(w), vg.Length(h))
	if err != nil {
		return nil, err
	}
	f.draw(p)
	c.buf.WriteString("</svg>\n")
	return c.buf.Bytes(), c.err
}

// WritePNG writes the figure as a picture of scale pixels for each pixel of its size, rounded. It fails unless scale is in 0.1..8, and if w does.
func (f *Figure) WritePNG(w io.Writer, t Theme, scale float64) error {
	if !(scale >= 0.1 && scale <= 8) {
		return fmt.Errorf("a scale of %v; 0.1 to 8 can be drawn, 2 suits most screens", scale)
	}
	width, height := f.size()
	// The canvas counts in whole dots an inch of 72 pixels; the figure is laid out on the size that gives the pixels asked for.
	dpi := max(1, math.Round(72*scale))
	pixels := func(v float64) vg.Length { return vg.Length(math.Round(v*scale) / dpi * 72) }
	c := &raster{vgimg.NewWith(vgimg.UseWH(pixels(width), pixels(height)), vgimg.UseDPI(int(dpi)), vgimg.UseBackgroundColor(t.Paper)), t}
	p, err := newPen(c, pixels(width), pixels(height))
	if err != nil {
		return err
	}
	f.draw(p)
	return png.Encode(w, c.Image())
}

// raster is gonum's raster canvas with the roles of a theme.
type raster struct {
	*vgimg.Canvas
	theme Theme
}

// SetColor implements vg.Canvas.
func (c *raster) SetColor(v color.Color) {
	if r, ok := v.(Role); ok {
		v = c.theme.Color(r)
	}
	c.Canvas.SetColor(v)
}
