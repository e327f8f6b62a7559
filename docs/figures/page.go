package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// pagePicture is the picture of docs/report.md: the top of a report as a browser shows it.
const pagePicture = "report.png"

// What is pictured, in pixels: as wide as the text of a page and its margins, as high as its first screens.
const (
	pageWidth  = 928
	pageHeight = 2190
	mostBytes  = 300_000
)

// photograph fits a built-in set, has its report shown by Chromium without a screen, and writes the top of it. It is not among the figures, which
// have the same bytes on every machine: the letters are those of the machine, and few machines that test have a browser.
func photograph() error {
	browser, err := chromium()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	page, shot := filepath.Join(dir, "penguins.html"), filepath.Join(dir, "page.png")
	if err := execute("go", "run", "./cmd/latent", "fit", "@penguins", "--report", page, "-q"); err != nil {
		return err
	}
	if err := execute(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--screenshot="+shot,
		fmt.Sprintf("--window-size=%d,%d", pageWidth, pageHeight), "file://"+filepath.ToSlash(page)); err != nil {
		return err
	}
	whole, err := os.ReadFile(shot)
	if err != nil {
		return err
	}
	small, err := reduced(whole)
	if err != nil {
		return err
	}
	if len(small) > mostBytes {
		return fmt.Errorf("%s would have %d bytes; it is to have %d at most: lower pageHeight", pagePicture, len(small), mostBytes)
	}
	return os.WriteFile(filepath.Join("docs", "figures", pagePicture), small, 0o666)
}

// chromium returns the browser's program.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium is on the path; it shows the pages whose pictures are wanted")
}

// execute runs a program, whose words are in the error where it fails.
func execute(name string, args ...string) error {
	said, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, said)
	}
	return nil
}

// reduced returns a PNG with the 256 most frequent colours, a third of the bytes; no more are needed for text and flat areas.
func reduced(shot []byte) ([]byte, error) {
	whole, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return nil, err
	}
	few := image.NewPaletted(whole.Bounds(), frequent(whole, 256))
	draw.Draw(few, few.Bounds(), whole, few.Bounds().Min, draw.Src)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few)
	return out.Bytes(), err
}

// frequent returns the colours that most pixels have, at most n.
func frequent(m image.Image, n int) color.Palette {
	count := map[color.RGBA]int{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y++ {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
			count[color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)]++
		}
	}
	var all []color.RGBA
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		return int(a.R)<<16 + int(a.G)<<8 + int(a.B) - int(b.R)<<16 - int(b.G)<<8 - int(b.B)
	})
	var p color.Palette
	for _, c := range all[:min(n, len(all))] {
		p = append(p, c)
	}
	return p
}
