package plot

import (
	"fmt"
	"image"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
)

// Images shows pictures side by side with captions.
type Images struct {
	Head
	Images []CaptionedImage
	PerRow int // 0: four at most, in rows as even as can be
}

// CaptionedImage is an image and what stands under it.
type CaptionedImage struct {
	Image   image.Image
	Caption string // two lines at most
}

// captionHeight is that of the captions of a picture, the longest of which has so many letters, in cells so wide.
func captionHeight(letters int, width float64) float64 {
	const letter = 0.6 * smallSize // as wide as most
	if float64(letters)*letter <= width {
		return leading*smallSize + 6
	}
	return 2*leading*smallSize + 6
}

// Figure lays the images out. All are drawn in cells of one shape, that of the tallest; images larger than twice their place are
// reduced, smaller ones enlarged in hard squares.
func (s Images) Figure() *Figure {
	f := &Figure{Head: s.Head}
	var shown []CaptionedImage
	var captions []string
	for _, i := range s.Images {
		if i.Image != nil && !i.Image.Bounds().Empty() {
			shown = append(shown, i)
			captions = append(captions, i.Caption)
		}
	}
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("%d images side by side: %s.", len(shown), strings.Join(captions, "; "))
	}
	if n := len(s.Images) - len(shown); n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d images left out: empty.", n, len(s.Images)))
	}
	if len(shown) == 0 {
		return f // blank
	}
	columns := s.PerRow
	if columns < 1 {
		rows := (len(shown) + 3) / 4
		columns = (len(shown) + rows - 1) / rows
	}
	columns = min(columns, len(shown))
	rows := (len(shown) + columns - 1) / columns
	tallest := 0.0
	for _, i := range shown {
		b := i.Image.Bounds()
		tallest = max(tallest, float64(b.Dy())/float64(b.Dx()))
	}
	tallest = min(tallest, 4)
	letters := 0
	for _, c := range captions {
		letters = max(letters, utf8.RuneCountInString(c))
	}
	const gap = 10
	f.height = func(width float64) float64 {
		w := (width - 2*edge - gap*float64(columns-1)) / float64(columns)
		return 2*edge + 30 + float64(rows)*(w*tallest+captionHeight(letters, w)+gap)
	}
	f.whole = func(fr *Frame) {
		w := (fr.Size().X - gap*vg.Length(columns-1)) / vg.Length(columns)
		h := (fr.Size().Y - gap*vg.Length(rows)) / vg.Length(rows)
		for i, v := range shown {
			cell := vg.Rectangle{Min: vg.Point{X: fr.Min.X + vg.Length(i%columns)*(w+gap), Y: fr.Max.Y - vg.Length(i/columns)*(h+gap) - h}}
			cell.Max = cell.Min.Add(vg.Point{X: w, Y: h})
			fr.picture(v, cell, vg.Length(captionHeight(letters, float64(w))))
		}
	}
	return f
}

// picture draws an image as large as it goes at the top of a cell, its caption under it.
func (f *Frame) picture(v CaptionedImage, cell vg.Rectangle, caption vg.Length) {
	b := v.Image.Bounds()
	room := vg.Point{X: cell.Size().X, Y: cell.Size().Y - caption}
	if room.X < 1 || room.Y < 1 {
		return
	}
	by := min(float64(room.X)/float64(b.Dx()), float64(room.Y)/float64(b.Dy()))
	w, h := vg.Length(by*float64(b.Dx())), vg.Length(by*float64(b.Dy()))
	r := vg.Rectangle{Min: vg.Point{X: cell.Min.X, Y: cell.Max.Y - h}, Max: vg.Point{X: cell.Min.X + w, Y: cell.Max.Y}}
	f.DrawImage(r, f.sampled(v.Image, r))
	l := label{size: smallSize}
	for i, line := range f.wrap(v.Caption, l, cell.Size().X, 2) {
		f.write(line, vg.Point{X: cell.Min.X, Y: r.Min.Y - leading*smallSize*vg.Length(i+1)}, l)
	}
}

// sampled returns img at the resolution it is drawn in: the dots of a raster, twice the pixels of an SVG.
func (f *Frame) sampled(img image.Image, r vg.Rectangle) image.Image {
	dots := 2.0
	c, raster := f.Canvas.Canvas.(*raster)
	if raster {
		dots = c.DPI() / 72
	}
	w, h := int(math.Round(float64(r.Size().X)*dots)), int(math.Round(float64(r.Size().Y)*dots))
	smaller := w < img.Bounds().Dx()
	if w < 1 || h < 1 || !smaller && !raster {
		return img // a viewer enlarges
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	var by draw.Interpolator = draw.NearestNeighbor
	if area := float64(img.Bounds().Dx()) * float64(img.Bounds().Dy()); smaller && area <= 1<<27 { // an image without bounds is as good in squares
		by = draw.CatmullRom
	}
	by.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}
