package main

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/picture"
)

//go:embed segment_page.html
var segmentPageText string

var segmentPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"base":      func(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] },
	"thousands": text.Thousands, "short": text.Short, "percent": func(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) },
}).Parse(segmentPageText))

// The page holds pictures of at most so many pixels: larger ones are shown by every n-th pixel.
const (
	pagePixels = 1_000_000
	maskPixels = 100_000
)

// pageData is what the page shows.
type pageData struct {
	*segmented
	Lines               []string // of the summary
	Original, Segmented template.URL
	Credit              string
	Palette, Masks      []swatch // the largest first; the smallest first
	Downsize            bool
}

// swatch is a segment as the page shows it.
type swatch struct {
	picture.Segment
	Hex  string
	Mask template.URL // of the masks
}

// page writes one HTML file with everything in it.
func (f *segmentFlags) page(w io.Writer, s *segmented) error {
	p := s.segments.Picture
	d := pageData{segmented: s, Credit: p.Credit}
	d.Lines = []string{modelLine(s.Result), tell.Trust(s.Result), methodLine(s.Result)}
	if prior := priorLine(s.Result); prior != "" {
		d.Lines = append(d.Lines, prior)
	}
	d.Downsize = p.Pixels() > pagePixels
	var err error
	if d.Original, err = dataURL(picture.Thumbnail(p.Image(), pagePixels), true); err != nil {
		return err
	}
	if d.Segmented, err = dataURL(picture.Thumbnail(s.segments.Image(), pagePixels), false); err != nil {
		return err
	}
	for _, g := range slices.Backward(s.segments.Smallest(len(s.Segments))) {
		d.Palette = append(d.Palette, swatch{Segment: g, Hex: g.Hex()})
	}
	for _, g := range s.segments.Smallest(f.masks) {
		m, err := dataURL(picture.Thumbnail(s.segments.Mask(g.Label), maskPixels), false)
		if err != nil {
			return err
		}
		d.Masks = append(d.Masks, swatch{g, g.Hex(), m})
	}
	return segmentPage.Execute(w, d)
}

// dataURL returns a picture as text. A photograph without holes is a JPEG: a PNG of it would be several times as large.
func dataURL(m image.Image, photograph bool) (template.URL, error) {
	var b bytes.Buffer
	kind, err := "png", error(nil)
	if whole, ok := m.(interface{ Opaque() bool }); photograph && ok && whole.Opaque() {
		kind, err = "jpeg", jpeg.Encode(&b, m, &jpeg.Options{Quality: 92})
	} else {
		err = png.Encode(&b, m)
	}
	return template.URL("data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err
}
