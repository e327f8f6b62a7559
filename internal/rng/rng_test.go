package rng

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shared are the streams whose numbers are also another's; the table says why.
var shared = [][2]Stream{{Starts, Draws}, {Moves, Nudges}}

// No two streams share a number but those that the table names.
func TestStreamsDoNotOverlap(t *testing.T) {
	for a := range streams {
		for b := a + 1; b < streams; b++ {
			x, y := table[a], table[b]
			if x.count == 0 || y.count == 0 {
				t.Fatalf("stream %d or %d has no numbers", a, b)
			}
			overlap := x.first < y.first+y.count && y.first < x.first+x.count
			if allowed := slices.Contains(shared, [2]Stream{a, b}); overlap != allowed {
				t.Errorf("streams %d and %d: overlap %v, named %v", a, b, overlap, allowed)
			}
		}
	}
	for a := range fixed {
		for b := a + 1; b < fixed; b++ {
			if fixedTable[a] == fixedTable[b] {
				t.Errorf("fixed generators %d and %d are one", a, b)
			}
		}
	}
}

// What a seed gives stays as it is: model files, pages and documents show it.
func TestNumbersOfStreamsStay(t *testing.T) {
	for _, c := range []struct {
		got, want *rand.Rand
	}{
		{Starts.At(7, 3), rand.New(rand.NewPCG(7, 3))},
		{StartSample.New(7), rand.New(rand.NewPCG(7, 0x1_0000_0000))},
		{Moves.At(7, 2), rand.New(rand.NewPCG(7, 0x2_0000_0002))},
		{Pixels.New(7), rand.New(rand.NewPCG(7, 0x4_0000_0000))},
		{Bootstrap.At(7, 5), rand.New(rand.NewPCG(7, 0x5_0000_0005))},
		{Batches(7, 9), rand.New(rand.NewPCG(7, 9))},
		{Page.New(), rand.New(rand.NewPCG(1, 1))},
	} {
		for i := range 3 {
			if got, want := c.got.Uint64(), c.want.Uint64(); got != want {
				t.Errorf("number %d is %d, want %d", i, got, want)
			}
		}
	}
}

// Generators are made in this package alone, so that the table is whole.
func TestGeneratorsAreMadeHereAlone(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		switch rel = filepath.ToSlash(rel); {
		case d.IsDir() && (d.Name() == ".git" || rel == "internal/rng" || rel == "internal/family/familytest" || rel == "internal/fixtures"):
			return filepath.SkipDir // the last two are for tests
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, maker := range []string{"rand.NewPCG(", "rand.NewChaCha8("} {
			if strings.Contains(string(text), maker) {
				t.Errorf("%s calls %s", rel, maker)
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files read: %v", files, err)
	}
}

// The first numbers of splitmix64 from seed 0, as its authors' program prints them.
func TestMixIsTheLastStepOfSplitmix64(t *testing.T) {
	z := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		z += 0x9e3779b97f4a7c15
		if got := Mix(z); got != want {
			t.Errorf("number %d is %#x, want %#x", i, got, want)
		}
	}
}

// Every set of two of four is drawn in one case of six.
func TestSelectionDrawsEverySetAlike(t *testing.T) {
	const draws = 60_000
	seen := map[[4]bool]int{}
	generator := rand.New(rand.NewPCG(1, 1))
	for range draws {
		s, set := Select(generator, 2, 4), [4]bool{}
		n := 0
		for i := 0; !s.Done(); i++ {
			if set[i] = s.Take(); set[i] {
				n++
			}
		}
		if n != 2 {
			t.Fatalf("drew %d of 2", n)
		}
		seen[set]++
	}
	for set, n := range seen { // the standard deviation is 91
		if n < draws/6-450 || n > draws/6+450 {
			t.Errorf("%v came %d times, want about %d", set, n, draws/6)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d sets, want 6", len(seen))
	}
}
