// Command figures draws the pictures of docs/pictures.md with the library they explain: every curve and dot is what its
// E-steps, M-steps and fits compute.
//
//	go run ./docs/figures
//
// rewrites docs/figures/*.svg, the same bytes each time.
//
//	go run ./docs/figures page
//
// rewrites docs/figures/report.png, the picture of docs/report.md; and
//
//	go run ./docs/figures studio
//
// the pictures of docs/studio.md; both need Chromium. All are run in the root of the module.
package main

import (
	"bytes"
	"log"
	"os"
	"path/filepath"

	"github.com/latent-go/latent/plot"
)

// figures are the pictures by the names of their files, in the order of the page.
var figures = []struct {
	file string
	draw func() *plot.Figure
}{
	{"shapes.svg", func() *plot.Figure { return newShapes().figure() }},
	{"coins.svg", func() *plot.Figure { return newCoins().figure() }},
	{"bound.svg", func() *plot.Figure { return newBound().figure() }},
	{"beta.svg", func() *plot.Figure { return newSharpness().figure() }},
	{"stuck.svg", func() *plot.Figure { return newStuck().figure() }},
	{"plateau.svg", func() *plot.Figure { return newPlateau().figure() }},
}

func main() {
	if by := map[string]func() error{"page": photograph, "studio": photographStudio}; len(os.Args) == 2 && by[os.Args[1]] != nil {
		if err := by[os.Args[1]](); err != nil {
			log.Fatal(err)
		}
		return
	}
	for _, f := range figures {
		var b bytes.Buffer
		err := f.draw().WriteSVG(&b)
		if err == nil {
			err = os.WriteFile(filepath.Join("docs", "figures", f.file), b.Bytes(), 0o666)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
