package main

import (
	"image/png"
	"os"
	"strings"
	"testing"
)

// Pictures of pages are made by hand, so the test only sees that they are there, small, and on their page.
func TestPicturesOfPagesAreSmallAndShown(t *testing.T) {
	picturedPage(t, pagePicture, "page", pageWidth, pageHeight, mostBytes, "../report.md")
	for _, v := range views {
		picturedPage(t, v.file, "studio", v.width, v.height, mostStudioBytes, "../studio.md")
	}
}

func picturedPage(t *testing.T, file, by string, width, height int, most int64, page string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shot, err := png.DecodeConfig(f)
	if err != nil || shot.Width != width || shot.Height != height {
		t.Errorf("%s: %d by %d, %v; run go run ./docs/figures %s", file, shot.Width, shot.Height, err, by)
	}
	if info, err := f.Stat(); err != nil || info.Size() > most {
		t.Errorf("%s: %v, %v", file, info, err)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "](figures/"+file+")") {
		t.Errorf("%s does not show %s: %v", page, file, err)
	}
}
