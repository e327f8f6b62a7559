// Command quantise stores a picture in few colours: vector quantisation, what k-means was invented for (Lloyd 1982).
// Each pixel becomes the number of its nearest code vector; the code book is the k centres.
//
//	go run ./examples/quantise [PICTURE] [DIRECTORY]
//
// Without a picture it takes a built-in photograph; with a directory it writes the pictures there.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/picture"
)

func main() {
	name, dir := "@flower", ""
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if len(os.Args) > 2 {
		dir = os.Args[2]
	}
	p, err := picture.Open(name, "", nil)
	if err == nil {
		err = quantise(os.Stdout, p, dir)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// quantise prints what each size of the code book costs, in bits, and loses, as the error of a channel's value.
func quantise(w io.Writer, p *picture.Picture, dir string) error {
	ctx := context.Background()
	features, err := p.Features("rgb", 0)
	if err != nil {
		return err
	}
	rows := features.Rows(0, 1) // pixels of one colour are one row, with their number as its weight
	fmt.Fprintf(w, "%s, %d x %d, %d colours\n", p.Name, p.Width, p.Height, rows.Colours)
	fmt.Fprintln(w, "colours  bits a pixel  error a value  signal to noise")
	for bits := 1; bits <= 6 && 1<<bits <= rows.Table.N; bits++ {
		k := 1 << bits
		r, err := latent.Fit(ctx, rows.Table, latent.Spec{Model: "kmeans", K: k, NInit: 1, Columns: features.Columns})
		if err != nil {
			return err
		}
		s, err := features.Segment(ctx, r.Model, 0)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%7d  %12d  %13.2f  %12.1f dB\n", k, bits, s.RMSE, 20*math.Log10(255/s.RMSE))
		if dir != "" {
			if err := save(filepath.Join(dir, fmt.Sprintf("colours-%d.png", k)), s); err != nil {
				return err
			}
		}
	}
	return nil
}

func save(path string, s *picture.Segments) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := s.WritePNG(f); err != nil {
		return err
	}
	return f.Close()
}
