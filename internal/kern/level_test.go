package kern

import (
	"os"
	"testing"
)

func TestLevelIsChosen(t *testing.T) {
	none, avx2, avx512, arm := []Level{Go}, []Level{Go, AVX2}, []Level{Go, AVX2, AVX512}, []Level{Go, NEON}
	vnni := []Level{Go, AVX2, AVX2VNNI}
	for _, c := range []struct {
		word string
		have []Level
		want Level
		bad  bool
	}{
		{"", avx512, AVX512, false}, {"auto", avx2, AVX2, false}, {"off", avx512, Go, false}, {"go", avx2, Go, false},
		{"avx2", avx512, AVX2, false}, {"avx512", avx512, AVX512, false}, {"avx512", avx2, AVX2, true}, {"avx2", none, Go, true},
		{"sse", avx512, AVX512, true}, {"AVX512", avx512, AVX512, false}, {"Off", avx2, Go, false}, {" avx2", avx512, AVX512, true}, {"0", avx512, AVX512, true},
		{"", arm, NEON, false}, {"NEON", arm, NEON, false}, {"neon+dotprod", arm, NEON, true}, {"avx2", arm, NEON, true}, {"neon", avx2, AVX2, true},
		{"", vnni, AVX2VNNI, false}, {"avx2", vnni, AVX2, false}, {"AVX2+VNNI", vnni, AVX2VNNI, false}, {"avx2+vnni", avx512, AVX512, true},
		{"neon+dotprod", append(arm, NEONDotProd), NEONDotProd, false},
	} {
		got, err := choose("LATENT_SIMD", c.word, c.have)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%q where there is %v: %v (%v), want %v", c.word, c.have, got, err, c.want)
		}
	}
}

func TestLevelsAreSetAndSetBack(t *testing.T) {
	before := Current()
	for _, l := range Levels() {
		restore := Use(l)
		if Current() != l {
			t.Errorf("%v is not in use", l)
		}
		restore()
	}
	if Current() != before {
		t.Errorf("%v is in use, not %v", Current(), before)
	}
}

// With LATENT_REQUIRE a level that the machine lacks is no reason to skip it. The variable is read here, where the cache of
// go test sees it.
func TestTheRequiredLevelIsThere(t *testing.T) {
	if _, err := choose(EnvRequire, os.Getenv(EnvRequire), detect()); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfLevelsNameTheVariable(t *testing.T) {
	for word, want := range map[string]string{
		"avx512": "LATENT_REQUIRE is avx512, but this machine has only go, avx2",
		"sse":    `LATENT_REQUIRE is "sse"; it must be auto, off, avx2, avx2+vnni, avx512, neon or neon+dotprod`,
	} {
		if _, err := choose("LATENT_REQUIRE", word, []Level{Go, AVX2}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", word, err, want)
		}
	}
}
