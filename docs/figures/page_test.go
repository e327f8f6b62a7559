package main

import (
	"image/png"
	"os"
	"strings"
	"testing"
)

// The picture is made by hand, so the test only sees that it is there, small, and on its page.
func TestThePictureOfAPageIsSmallAndShown(t *testing.T) {
	f, err := os.Open(pagePicture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shot, err := png.DecodeConfig(f)
	if err != nil || shot.Width != pageWidth || shot.Height != pageHeight {
		t.Errorf("%s: %d by %d, %v; run go run ./docs/figures page", pagePicture, shot.Width, shot.Height, err)
	}
	if info, err := f.Stat(); err != nil || info.Size() > mostBytes {
		t.Errorf("%s: %v, %v", pagePicture, info, err)
	}
	page, err := os.ReadFile("../report.md")
	if err != nil || !strings.Contains(string(page), "](figures/"+pagePicture+")") {
		t.Errorf("docs/report.md does not show %s: %v", pagePicture, err)
	}
}
