package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latent-go/latent/picture"
)

func TestAPictureOfFourColoursIsKeptByFour(t *testing.T) {
	colours := []color.NRGBA{{0, 0, 0, 255}, {255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}}
	m := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	for i := range 400 {
		m.SetNRGBA(i%20, i/20, colours[i%4])
	}
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	p, err := picture.Decode(file.Bytes(), "four.png", "")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	dir := t.TempDir()
	if err := quantise(&out, p, dir); err != nil { // ends at four: there are no eight colours to keep
		t.Fatal(err)
	}
	got, err := os.Open(filepath.Join(dir, "colours-4.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	kept, err := png.Decode(got)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		if want := color.NRGBAModel.Convert(m.At(i%20, i/20)); color.NRGBAModel.Convert(kept.At(i%20, i/20)) != want {
			t.Fatalf("pixel %d is %v, want %v", i, kept.At(i%20, i/20), want)
		}
	}
}
