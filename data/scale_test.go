package data

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// Both tables of numbers, and a source that gives memory of its own.
func mappedSources(t *testing.T) (sources map[string]Source, raw []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	n, d := 1000, 3
	plain, single := &Table{N: n, D: d, W: make([]float64, n)}, &Table{N: n, D: d, W: make([]float64, n)}
	text := "a,b,c,w\n"
	for i := range n {
		plain.W[i], single.W[i] = float64(i%5), float64(i%5)
		for range d {
			v := float64(rng.IntN(64)) / 8
			raw = append(raw, v)
			plain.F64, single.F32 = append(plain.F64, v), append(single.F32, float32(v))
			text += fmt.Sprint(v, ",")
		}
		text += fmt.Sprintln(i % 5)
	}
	src, _, err := Load(context.Background(), write(t, "f.csv", text), Options{Stream: true, Weight: "w"})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Source{"float64": plain, "float32": single, "stream": src}, raw
}

// TestMapped reads with two blocks by turns and keeps them, as workers do: each must hold its rows until it is filled
// again, and a new block each time must do as well.
func TestMapped(t *testing.T) {
	center, scale := []float64{1, 2, 3}, []float64{2, 4, 8}
	sources, raw := mappedSources(t)
	wantScaled, wantBits := make([]float64, len(raw)), make([]float64, len(raw))
	for i, v := range raw {
		wantScaled[i] = (v - center[i%3]) / scale[i%3]
		if v > 4 {
			wantBits[i] = 1
		}
	}
	scaledTwice := make([]float64, len(raw))
	for i, v := range wantScaled {
		if v > 0.25 {
			scaledTwice[i] = 1
		}
	}
	for name, src := range sources {
		for what, c := range map[string]struct {
			src  Source
			want []float64
		}{
			"scaled": {Scaled(src, center, scale), wantScaled}, "binarized": {Binarized(src, 4), wantBits},
			"scaled and binarized": {Binarized(Scaled(src, center, scale), 0.25), scaledTwice},
		} {
			for _, blocks := range []int{1, 2, 1000} {
				r, err := c.src.Open(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				var got, weights []float64
				held := make([]*Block, blocks)
				for turn := 0; ; turn++ {
					k := turn % blocks
					if b := held[k]; b != nil {
						got, weights = append(got, b.F64...), append(weights, b.W...)
					} else {
						held[k] = new(Block)
					}
					if err := r.Read(held[k], 7); err == io.EOF {
						held[k] = &Block{}
						for i := range blocks { // those read before, oldest first
							if b := held[(turn+i)%blocks]; b != nil {
								got, weights = append(got, b.F64...), append(weights, b.W...)
							}
						}
						break
					} else if err != nil {
						t.Fatal(err)
					}
				}
				r.Close()
				if !slices.Equal(got, c.want) || len(weights) != 1000 || weights[7] != 2 || weights[999] != 4 {
					t.Errorf("%s %s, %d blocks: wrong values", name, what, blocks)
				}
			}
		}
	}
}

// TestMappedAllocates wants no memory from a pass once its first block is filled.
func TestMappedAllocates(t *testing.T) {
	sources, _ := mappedSources(t)
	for _, name := range []string{"float64", "float32"} {
		r, err := Binarized(Scaled(sources[name], make([]float64, 3), []float64{1, 1, 1}), 2).Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var b Block
		if n := testing.AllocsPerRun(20, func() { r.Read(&b, 30) }); n != 0 || b.N != 30 {
			t.Errorf("%s: %v allocations a block, %d rows", name, n, b.N)
		}
	}
}

func TestFirstCell(t *testing.T) {
	notBit := func(_ int, v float64) bool { return v != 0 && v != 1 }
	for _, c := range []struct {
		name string
		src  Source
		want string
	}{
		{"bits", &Table{N: 3, D: 2, F64: []float64{0, 1, 1, 1, 0, 0}}, "0 0 0 false <nil>"},
		{"two", &Table{N: 3, D: 2, F64: []float64{0, 1, 1, 2, 3, 0}}, "2 1 2 true <nil>"},
		{"a half in float32", &Table{N: 2, D: 2, F32: []float32{0, 1, 0.5, 1}}, "2 0 0.5 true <nil>"},
		{"negative", &Table{N: 1, D: 1, F64: []float64{-1}}, "1 0 -1 true <nil>"},
		{"without weight", &Table{N: 3, D: 1, F64: []float64{7, 1, 3}, W: []float64{0, 1, 2}}, "3 0 3 true <nil>"},
		{"rows that were dropped", &Table{N: 2, D: 1, F64: []float64{1, 3}, Row: []int64{4, 9}}, "9 0 3 true <nil>"},
		{"no rows", &Table{D: 2}, "0 0 0 false <nil>"},
		{"far down", Binarized(&Table{N: 10000, D: 1, F64: make([]float64, 10000)}, 0), "0 0 0 false <nil>"},
		{"damaged", &Table{N: 1, D: 1}, "0 0 0 false the table holds 0 values, but 1 rows of 1 columns are 1"},
	} {
		row, col, value, found, err := FirstCell(context.Background(), c.src, notBit)
		if got := fmt.Sprint(row, col, value, found, err); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	far := make([]float64, 10000)
	far[9998] = 0.25
	if row, _, value, found, err := FirstCell(context.Background(), &Table{N: 5000, D: 2, F64: far}, notBit); row != 5000 || value != 0.25 || !found || err != nil {
		t.Errorf("row %d, %v, %v", row, value, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, _, _, err := FirstCell(ctx, &Table{N: 1, D: 1, F64: []float64{1}}, notBit); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// What a cell is held against may depend on its column.
func TestFirstCellOfColumns(t *testing.T) {
	above := func(j int, v float64) bool { return v >= float64(2+3*j) }
	src := &Table{N: 2, D: 2, F32: []float32{0, 4, 2, 5}}
	if row, col, v, found, err := FirstCell(context.Background(), src, above); row != 2 || col != 0 || v != 2 || !found || err != nil {
		t.Errorf("row %d, column %d, %v, %v, %v", row, col, v, found, err)
	}
}
