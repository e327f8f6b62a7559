package kern

import "testing"

func TestLevelIsChosen(t *testing.T) {
	for _, c := range []struct {
		word string
		have Level
		want Level
		bad  bool
	}{
		{"", AVX512, AVX512, false}, {"auto", AVX2, AVX2, false}, {"off", AVX512, Go, false}, {"go", AVX2, Go, false},
		{"avx2", AVX512, AVX2, false}, {"avx512", AVX512, AVX512, false}, {"avx512", AVX2, AVX2, true}, {"avx2", Go, Go, true},
		{"sse", AVX512, AVX512, true}, {"AVX512", AVX512, AVX512, false}, {"Off", AVX2, Go, false}, {" avx2", AVX512, AVX512, true}, {"0", AVX512, AVX512, true},
	} {
		got, err := choose(c.word, c.have)
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
