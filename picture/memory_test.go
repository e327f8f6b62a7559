package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
)

// What a header says would take more than may be used is refused, and one byte more is enough: 4 samples a pixel in the
// image and 4 in the picture, of 1 byte or 2, and the file.
func TestPictureMemory(t *testing.T) {
	const w, h = 1000, 700
	for name, c := range map[string]struct {
		img   image.Image
		bytes int64
	}{
		"8 bits":  {image.NewNRGBA(image.Rect(0, 0, w, h)), 8 * w * h},
		"16 bits": {image.NewNRGBA64(image.Rect(0, 0, w, h)), 16 * w * h},
		"palette": {image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White}), 8 * w * h},
	} {
		var b bytes.Buffer
		if err := png.Encode(&b, c.img); err != nil {
			t.Fatal(err)
		}
		need := c.bytes + int64(b.Len())
		_, err := OpenWithin("-", "", bytes.NewReader(b.Bytes()), need-1)
		var tooLarge *data.MemoryError
		if !errors.As(err, &tooLarge) || tooLarge.Need != need || !strings.Contains(err.Error(), ": 1,000 x 700 pixels take ") {
			t.Errorf("%s: %v", name, err)
		}
		p, err := OpenWithin("-", "", bytes.NewReader(b.Bytes()), need)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p.Bytes() > c.bytes/2 {
			t.Errorf("%s: the picture takes %d bytes, half of %d were counted", name, p.Bytes(), c.bytes)
		}
	}
	endless := strings.NewReader("\x89PNG\r\n\x1a\n" + strings.Repeat("x", 2<<20))
	if _, err := OpenWithin("-", "", endless, 1<<20); err == nil || !strings.Contains(err.Error(), "it is larger") || endless.Len() == 0 {
		t.Errorf("a pipe: %v, %d bytes left", err, endless.Len())
	}
}

// RowBytes is what the values and weights of Rows take.
func TestRowBytes(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 60, 50))
	for i := range img.Pix {
		img.Pix[i] = 255
		if i%4 != 3 {
			img.Pix[i] = uint8(i % 7 * 30)
		}
	}
	p := fromImage(img, img.Bounds(), 1)
	for _, position := range []float64{0, 2} {
		f, err := p.Features("", position)
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range []int64{0, 100, 1e6} {
			table := f.Rows(sample, 1).Table
			held := int64(8*len(table.F64) + 4*len(table.F32) + 8*len(table.W))
			if n := f.RowBytes(sample); n < held || n > 2*held && sample != 100 {
				t.Errorf("position %v, sample %d: %d bytes, %d are held", position, sample, n, held)
			}
		}
	}
}
