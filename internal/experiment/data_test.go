package experiment

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestGeneratedRowsHaveTheirClustersMoments(t *testing.T) {
	for _, clusters := range [][]cluster{twoGaussians, fourGaussians} {
		rows, label := drawn(clusters, 3)
		n, sum, square := make([]float64, len(clusters)), make([][2]float64, len(clusters)), make([][2]float64, len(clusters))
		for i, c := range label {
			n[c]++
			for j, centre := range []float64{clusters[c].x, clusters[c].y} {
				d := rows.At(i, j) - centre
				sum[c][j] += d
				square[c][j] += d * d
			}
		}
		for c, g := range clusters {
			if int(n[c]) != g.n {
				t.Errorf("cluster %d has %v rows, want %d", c, n[c], g.n)
			}
			for j := range 2 { // five standard errors of a mean and of a variance
				if d := sum[c][j] / n[c]; math.Abs(d) > 5*math.Sqrt(g.variance/n[c]) {
					t.Errorf("cluster %d column %d: mean is off by %v", c, j, d)
				}
				if v := square[c][j] / n[c]; math.Abs(v-g.variance) > 5*g.variance*math.Sqrt(2/n[c]) {
					t.Errorf("cluster %d column %d: variance %v, want %v", c, j, v, g.variance)
				}
			}
		}
		if slices.IsSorted(label) {
			t.Error("rows are not shuffled")
		}
	}
}

func TestGeneratedDataDependOnTheSeedAlone(t *testing.T) {
	a, _ := drawn(twoGaussians, 7)
	b, _ := drawn(twoGaussians, 7)
	c, _ := drawn(twoGaussians, 8)
	if !slices.Equal(a.F64, b.F64) || slices.Equal(a.F64, c.F64) {
		t.Error("the rows are not those of the seed")
	}
	v, w, x := NewViolet(1), NewViolet(1), NewViolet(2)
	if !slices.Equal(v.RGB, w.RGB) || !slices.Equal(v.Centre, w.Centre) || slices.Equal(v.RGB, x.RGB) {
		t.Error("the picture is not that of the seed")
	}
}

func TestVioletHasTinyYellowCentres(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		v := NewViolet(seed)
		if len(v.Centre) != 81_472 || len(v.RGB) != 3*81_472 {
			t.Fatalf("seed %d: %d pixels, %d values", seed, len(v.Centre), len(v.RGB))
		}
		n, inside, violet := 0, [3]float64{}, 0
		for i, in := range v.Centre {
			r, g, b := v.RGB[3*i], v.RGB[3*i+1], v.RGB[3*i+2]
			if b > r && r > g+10 {
				violet++
			}
			if r == 0 || r == 255 || g == 0 || g == 255 || b == 0 || b == 255 {
				t.Errorf("seed %d: pixel %d is clipped", seed, i)
			}
			if in {
				n++
				inside[0], inside[1], inside[2] = inside[0]+float64(r), inside[1]+float64(g), inside[2]+float64(b)
			}
		}
		if share := float64(n) / 81_472; share < 0.0007 || share > 0.0013 {
			t.Errorf("seed %d: centres are %.5f of the picture", seed, share)
		}
		if share := float64(violet) / 81_472; share < 0.03 || share > 0.3 {
			t.Errorf("seed %d: petals are %.3f of the picture", seed, share)
		}
		if r, g, b := inside[0], inside[1], inside[2]; !(r > g && g > 1.3*b) { // yellow: red and green well above blue
			t.Errorf("seed %d: centres are %v, not yellow", seed, inside)
		}
	}
}

func TestBlurKeepsTheMeanAndSpreadsAPoint(t *testing.T) {
	const n = 21
	image := make([]float64, n*n)
	image[n*(n/2)+n/2] = 1
	blur(image, n, n, 1, 1.5)
	sum, across := 0.0, 0.0
	for i, v := range image {
		sum += v
		across += v * float64((i%n-n/2)*(i%n-n/2))
	}
	if math.Abs(sum-1) > 1e-12 || math.Abs(across-1.5*1.5) > 0.1 { // cut at three deviations, so a little less
		t.Errorf("sum %v, variance %v", sum, across)
	}
	flat := slices.Repeat([]float64{3, 5}, 40)
	blur(flat, 8, 5, 2, 1)
	for i, v := range flat {
		if math.Abs(v-float64(3+i%2*2)) > 1e-12 {
			t.Fatalf("a flat image changed: %v", v)
		}
	}
}

func TestBuiltinDigitsAreFoursAndEights(t *testing.T) {
	rows, label, err := builtinDigits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := [2]int{}
	for _, c := range label {
		n[c]++
	}
	if n != [2]int{181, 174} || rows.N != 355 { // as the set's own counts say
		t.Errorf("%v pictures in %d rows", n, rows.N)
	}
}

// Six pictures of 2 x 2 pixels with the labels 4 8 1 8 4 0, plain and packed.
func TestMNISTIsReadFromIDX(t *testing.T) {
	images := []byte{0, 0, 8, 3, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 2}
	for i := range byte(24) {
		images = append(images, i)
	}
	labels := []byte{0, 0, 8, 1, 0, 0, 0, 6, 4, 8, 1, 8, 4, 0}
	write := func(path string, b []byte, pack bool) {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if pack {
			z := gzip.NewWriter(f)
			z.Write(b)
			z.Close()
		} else {
			f.Write(b)
		}
	}
	for _, end := range []string{"", ".gz"} {
		dir := t.TempDir()
		write(filepath.Join(dir, "train-images-idx3-ubyte"+end), images, end != "")
		if _, _, err := mnist(t.Context(), dir); err == nil {
			t.Error("labels that are missing are no error")
		}
		write(filepath.Join(dir, "train-labels-idx1-ubyte"+end), labels, end != "")
		rows, label, err := mnist(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(label, []int{0, 1, 1, 0}) || !slices.Equal(rows.F64, []float64{0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19}) {
			t.Errorf("%q: labels %v of %v", end, label, rows.F64)
		}
	}
}
