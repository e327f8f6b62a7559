// Command words describes pictures by the visual words in them: small patches are clustered by k-means, the k centres are
// the words, and a region of a picture is the histogram of its patches' words, whatever their places (Csurka et al. 2004).
//
//	go run ./examples/words
//
// It cuts two built-in photographs into tiles and asks of each tile which other tile uses its words most alike.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/picture"
)

const (
	patch = 6   // pixels of a patch's side
	tile  = 102 // pixels of a tile's side: 17 x 17 patches
	words = 60
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// histogram counts the words of one tile.
type histogram struct {
	picture string
	count   [words]float64
}

func run(w io.Writer) error {
	ctx := context.Background()
	var patches [][]float64
	var of []int // the tile of each patch
	var tiles []histogram
	for _, name := range []string{"@flower", "@china"} {
		p, err := picture.Open(name, "", nil)
		if err != nil {
			return err
		}
		for y := 0; y+tile <= p.Height; y += tile {
			for x := 0; x+tile <= p.Width; x += tile {
				for py := y; py < y+tile; py += patch {
					for px := x; px < x+tile; px += patch {
						patches, of = append(patches, texture(p, px, py)), append(of, len(tiles))
					}
				}
				tiles = append(tiles, histogram{picture: name})
			}
		}
	}
	table, err := data.FromRows(patches)
	if err != nil {
		return err
	}
	r, err := latent.Fit(ctx, table, latent.Spec{Model: "kmeans", K: words, NInit: 1})
	if err != nil {
		return err
	}
	err = r.Model.Rows(ctx, table, 0, func(s *model.Scored) error {
		for i, word := range s.Label {
			tiles[of[int(s.First)+i]].count[word]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d patches of %d x %d pixels, %d words, %d tiles\n", len(patches), patch, patch, words, len(tiles))
	tell(w, tiles)
	return nil
}

// texture returns the brightness of a patch's pixels less their mean: the word is for its pattern, not for the light.
func texture(p *picture.Picture, x, y int) []float64 {
	v, mean := make([]float64, 0, patch*patch), 0.0
	for j := range patch {
		for i := range patch {
			c := p.RGB((y+j)*p.Width + x + i)
			g := 0.299*c[0] + 0.587*c[1] + 0.114*c[2]
			v, mean = append(v, g), mean+g/(patch*patch)
		}
	}
	for i := range v {
		v[i] -= mean
	}
	return v
}

// tell counts how often the tile most alike is of the same picture.
func tell(w io.Writer, tiles []histogram) {
	same, of := map[string]int{}, map[string]int{}
	for i := range tiles {
		best, nearest := math.Inf(1), -1
		for j := range tiles {
			if d := distance(&tiles[i], &tiles[j]); i != j && d < best {
				best, nearest = d, j
			}
		}
		of[tiles[i].picture]++
		if tiles[nearest].picture == tiles[i].picture {
			same[tiles[i].picture]++
		}
	}
	for _, name := range []string{"@flower", "@china"} {
		fmt.Fprintf(w, "%s: of %d tiles the tile most alike is of the same picture for %d\n", name, of[name], same[name])
	}
}

// distance is the chi-squared distance of two histograms.
func distance(a, b *histogram) (d float64) {
	for i, u := range a.count {
		if v := b.count[i]; u+v > 0 {
			d += (u - v) * (u - v) / (u + v)
		}
	}
	return d
}
