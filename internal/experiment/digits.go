package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/sweep"
)

// The digits that are told apart, and how many principal components they are described by: with 6 there are some six rows
// of a digit for each parameter of its component, with MNIST's 20 some 25.
var (
	digitPair      = [2]int{4, 8}
	builtinColumns = 6
	mnistColumns   = 20
)

// digits is the experiment on handwritten digits after PCA.
func digits(ctx context.Context, o *Options) (*Section, error) {
	source, columns := "the built-in @digits, 8 × 8 pixels (E. Alpaydin, C. Kaynak, UCI Machine Learning Repository)", builtinColumns
	load := builtinDigits
	if o.Data != "" {
		source, columns = "the training part of MNIST in "+filepath.Base(filepath.Clean(o.Data))+", 28 × 28 pixels", mnistColumns
		load = func(ctx context.Context) (*data.Table, []int, error) { return mnist(ctx, o.Data) }
	}
	images, label, err := load(ctx)
	if err != nil {
		return nil, err
	}
	rows, explained, err := project(ctx, images, columns, o.Threads)
	if err != nil {
		return nil, err
	}
	p := &problem{rows: rows, k: 2, plan: tablePlan, truth: moments(rows, label, 2)}
	s, err := p.run(ctx, "digits-48", o)
	if err != nil {
		return nil, err
	}
	w := p.truth.Weights
	differs := "The paper has the digits 4 and 8 of MNIST; these are smaller pictures of fewer people. Give the folder of its IDX files with --data to use MNIST. "
	if o.Data != "" {
		differs = "The paper has the same digits; its number of principal components was not at hand. "
	}
	return section(s, "Digits 4 and 8",
		fmt.Sprintf("%s rows, the pictures of the digits 4 (%s) and 8 (%s) from %s, as their first %d principal components, which hold %.0f %% of the variance. k = 2, one component a digit.",
			fixed(float64(rows.N), 0), fixed(w[0]*float64(rows.N), 0), fixed(w[1]*float64(rows.N), 0), source, columns, 100*explained),
		differs+"The truth that parameters are measured against is the share, mean and covariance of each digit. Digits are not normal, so the best fit need not be near it. The two are about equally many: the small cluster is the rarer digit."), nil
}

// builtinDigits returns the pictures of both digits of the built-in set, and which of the two each is.
func builtinDigits(ctx context.Context) (*data.Table, []int, error) {
	src, _, err := data.Load(ctx, "@digits", data.Options{})
	if err != nil {
		return nil, nil, err
	}
	return pick(ctx, src, func(b *data.Block, i int) (int, error) { return strconv.Atoi(b.Truth[i]) })
}

// mnist returns the pictures of both digits of the training part of MNIST, plain or packed, in a folder.
func mnist(ctx context.Context, folder string) (*data.Table, []int, error) {
	images, err := idx(ctx, folder, "train-images-idx3-ubyte")
	if err != nil {
		return nil, nil, err
	}
	labels, err := idx(ctx, folder, "train-labels-idx1-ubyte")
	if err != nil {
		return nil, nil, err
	}
	var digit []int
	err = data.EachBlock(ctx, labels, func(b *data.Block) error {
		for i := range b.N {
			digit = append(digit, int(b.At(i, 0)))
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if n, _ := images.Shape(); n != int64(len(digit)) {
		return nil, nil, fmt.Errorf("%s: there are %d images and %d labels", folder, n, len(digit))
	}
	return pick(ctx, images, func(b *data.Block, i int) (int, error) { return digit[b.First+int64(i)], nil })
}

// idx opens an IDX file of a folder, plain or packed.
func idx(ctx context.Context, folder, name string) (data.Source, error) {
	for _, end := range []string{"", ".gz"} {
		path := filepath.Join(folder, name+end)
		if _, err := os.Stat(path); err == nil {
			src, _, err := data.Load(ctx, path, data.Options{Format: "idx"})
			return src, err
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: there is no %s and no %s.gz; --data wants the folder with MNIST's IDX files", folder, name, name)
}

// pick copies the rows of the two digits.
func pick(ctx context.Context, src data.Source, digit func(*data.Block, int) (int, error)) (t *data.Table, label []int, err error) {
	_, d := src.Shape()
	t = &data.Table{D: d}
	err = data.EachBlock(ctx, src, func(b *data.Block) error {
		for i := range b.N {
			v, err := digit(b, i)
			if err != nil {
				return err
			}
			for c, wanted := range digitPair {
				if v == wanted {
					label = append(label, c)
					for j := range d {
						t.F64 = append(t.F64, b.At(i, j))
					}
				}
			}
		}
		return nil
	})
	t.N = len(label)
	return t, label, err
}

// project returns the first principal components of the rows and the share of the variance they hold.
func project(ctx context.Context, rows *data.Table, n, threads int) (*data.Table, float64, error) {
	look, err := sweep.Look(ctx, rows, max(threads, 1))
	if err != nil {
		return nil, 0, err
	}
	c, err := pca.Find(ctx, rows, look, min(n, rows.D), max(threads, 1))
	if err != nil {
		return nil, 0, err
	}
	t := &data.Table{N: rows.N, D: len(c.Axes), F64: make([]float64, 0, rows.N*len(c.Axes))}
	for i := range rows.N {
		for _, axis := range c.Axes {
			v := 0.0
			for j, a := range axis {
				v += a * (rows.At(i, j) - c.Mean[j])
			}
			t.F64 = append(t.F64, v)
		}
	}
	return t, c.Explained(), nil
}
