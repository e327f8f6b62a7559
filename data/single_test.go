package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWhatFloat32Loses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	column := func(n int, v func(i int) float64) string {
		var b strings.Builder
		b.WriteString("x y,z\n")
		for i := range n {
			fmt.Fprintf(&b, "%v,%d\n", v(i), i%3)
		}
		return b.String()
	}
	pairs := func(offset float64) func(i int) float64 { // two groups, a thousand apart, of values two apart
		return func(i int) float64 { return offset + float64(i/100*1000) + float64(2*(i%2)-1) }
	}
	const use = "; leave out --float32, or --exclude 'x y'"
	for _, c := range []struct{ name, text, warning, err string }{
		{"four that become one", column(4, func(i int) float64 { return 1e8 + []float64{0, 1, 3, 4}[i] }), "", `column "x y": its numbers, 1e+08 to 1.00000004e+08, are one and the same as float32` + use},
		{"too large", column(3, func(i int) float64 { return math.Pow(10, float64(38+i)) }), "", `column "x y": 1e+40 is too large for float32` + use},
		{"pairs far from zero", column(200, pairs(1e8)), `column "x y" has different values that become equal as float32` + use, ""},
		{"pairs near enough", column(200, pairs(1e4)), "", ""},
		{"codes beyond 2^24", column(500, func(i int) float64 { return 20_000_001 + float64(i) }), `"x y" has different values that become equal`, ""},
		{"two values that are moved", column(50, func(i int) float64 { return 1e8 + 10*float64(i%2) }), `column "x y" is rounded by more than a hundredth of its spread as float32` + use, ""},
		{"fractions of any length", column(singleRows+500, func(int) float64 { return rng.Float64() }), "", ""},
		{"small integers", column(300, func(i int) float64 { return float64(i * i % 1000) }), "", ""},
	} {
		for _, stream := range []bool{false, true} {
			_, info, err := Load(context.Background(), write(t, "t.csv", c.text), Options{Float32: true, Stream: stream, Threads: 2})
			if c.err != "" || err != nil {
				if err == nil || c.err == "" || !strings.HasSuffix(err.Error(), c.err) {
					t.Errorf("%s: got %v, want %q", c.name, err, c.err)
				}
				continue
			}
			if got := strings.Join(info.Warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("%s: warnings %q, want %q", c.name, got, c.warning)
			}
			if _, info, err = Load(context.Background(), write(t, "t.csv", c.text), Options{Threads: 2}); err != nil || len(info.Warnings) > 0 {
				t.Errorf("%s as float64: warnings %q, %v", c.name, info.Warnings, err)
			}
		}
	}
}

// TestFloat32OfArrays: an array of float64 loses what a CSV file does, one of float32 nothing.
func TestFloat32OfArrays(t *testing.T) {
	var wide, narrow []byte
	for i := range 8 {
		v := 1e8 + float64(i)
		wide = binary.LittleEndian.AppendUint64(wide, math.Float64bits(v))
		narrow = binary.LittleEndian.AppendUint32(narrow, math.Float32bits(float32(v)))
	}
	for name, c := range map[string]struct {
		file []byte
		want int
	}{"f8": {npy(1, npyHead("<f8", "False", "(8, 1)"), wide...), 1}, "f4": {npy(1, npyHead("<f4", "False", "(8, 1)"), narrow...), 0}} {
		_, info, err := Load(context.Background(), write(t, "t.npy", string(c.file)), Options{Float32: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Warnings) != c.want {
			t.Errorf("%s: warnings %q", name, info.Warnings)
		}
	}
}
