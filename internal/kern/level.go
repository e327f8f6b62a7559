package kern

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Level is an instruction set that the kernels are written for.
type Level uint8

// The levels of all processors. On amd64, and on arm64, each is a superset of the ones before.
const (
	Go          Level = iota // portable Go: the definition of every kernel
	AVX2                     // amd64: 256 bit vectors and FMA
	AVX2VNNI                 // amd64: and products of four bytes (AVX-VNNI)
	AVX512                   // amd64: 512 bit vectors (F, DQ, BW, VL)
	NEON                     // arm64: 128 bit vectors, which every such processor has
	NEONDotProd              // arm64: and products of four bytes (FEAT_DotProd)
)

var names = [...]string{"go", "avx2", "avx2+vnni", "avx512", "neon", "neon+dotprod"}

// String returns "go", "avx2", "avx2+vnni", "avx512", "neon" or "neon+dotprod".
func (l Level) String() string { return names[l] }

// Env is the environment variable that forces a level: off or the name of one.
const Env = "LATENT_SIMD"

// EnvRequire is the environment variable that names a level without which Err is an error. It forces none.
const EnvRequire = "LATENT_REQUIRE"

// current is the level in use. It is set before main begins and by tests.
var current, levelErr = choose(Env, os.Getenv(Env), detect())

// level is what kernels go by: that of the vectors in use. AVX2VNNI differs from AVX2 in the products of Integers alone.
var level = current.vectors()

func (l Level) vectors() Level {
	if l == AVX2VNNI {
		return AVX2
	}
	return l
}

var _, requireErr = choose(EnvRequire, os.Getenv(EnvRequire), detect())

// Current returns the level in use.
func Current() Level { return current }

// Levels returns what this machine has, the lowest first.
func Levels() []Level { return detect() }

// Use sets the level, which this machine must have, and returns a function that sets it back. It is for tests and not
// safe while kernels run.
func Use(l Level) (restore func()) {
	if !slices.Contains(Levels(), l) {
		panic("kern: this machine does not have " + l.String())
	}
	before := current
	set := func(l Level) { current, level = l, l.vectors() }
	set(l)
	return func() { set(before) }
}

// Err says what is wrong with LATENT_SIMD or LATENT_REQUIRE: a word that is not known, or a level this machine does not
// have.
func Err() error { return cmp.Or(levelErr, requireErr) }

// choose returns the level of have, the lowest first, that the word of a variable asks for, in any case; "" and auto ask for the
// highest.
func choose(variable, word string, have []Level) (Level, error) {
	highest := have[len(have)-1]
	word = strings.ToLower(word)
	switch word {
	case "", "auto":
		return highest, nil
	case "off":
		return Go, nil
	}
	want := Level(slices.Index(names[:], word))
	switch {
	case slices.Contains(have, want):
		return want, nil
	case slices.Contains(names[:], word):
		return highest, fmt.Errorf("%s is %s, but this machine has only %s", variable, want, listed(have))
	}
	return highest, fmt.Errorf("%s is %q; it must be auto, off, %s or %s", variable, word, strings.Join(names[1:len(names)-1], ", "), names[len(names)-1])
}

// listed names levels.
func listed(have []Level) string {
	words := make([]string, len(have))
	for i, l := range have {
		words[i] = l.String()
	}
	return strings.Join(words, ", ")
}
