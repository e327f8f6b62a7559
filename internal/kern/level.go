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

// The levels, each a superset of the ones before.
const (
	Go     Level = iota // portable Go: the definition of every kernel
	AVX2                // 256 bit vectors and FMA
	AVX512              // 512 bit vectors (F, DQ, BW, VL)
)

var names = [...]string{"go", "avx2", "avx512"}

// String returns "go", "avx2" or "avx512".
func (l Level) String() string { return names[l] }

// Env is the environment variable that forces a level: off, avx2 or avx512.
const Env = "LATENT_SIMD"

// EnvRequire is the environment variable that names a level without which Err is an error. It forces none.
const EnvRequire = "LATENT_REQUIRE"

// level is the one in use. It is set before main begins and by tests.
var level, levelErr = choose(Env, os.Getenv(Env), detect())

var _, requireErr = choose(EnvRequire, os.Getenv(EnvRequire), detect())

// Current returns the level in use.
func Current() Level { return level }

// Levels returns what this machine has, the lowest first.
func Levels() []Level {
	all := []Level{Go, AVX2, AVX512}
	return all[:detect()+1]
}

// Use sets the level, which this machine must have, and returns a function that sets it back. It is for tests and not
// safe while kernels run.
func Use(l Level) (restore func()) {
	if !slices.Contains(Levels(), l) {
		panic("kern: this machine does not have " + l.String())
	}
	before := level
	level = l
	return func() { level = before }
}

// Err says what is wrong with LATENT_SIMD or LATENT_REQUIRE: a word that is not known, or a level this machine does not
// have.
func Err() error { return cmp.Or(levelErr, requireErr) }

// choose returns the level that the word of a variable asks for, in any case; "" and auto ask for the highest.
func choose(variable, word string, have Level) (Level, error) {
	want := have
	switch strings.ToLower(word) {
	case "", "auto":
	case "off", "go":
		want = Go
	case "avx2":
		want = AVX2
	case "avx512":
		want = AVX512
	default:
		return have, fmt.Errorf("%s is %q; it must be auto, off, avx2 or avx512", variable, word)
	}
	if want > have {
		return have, fmt.Errorf("%s is %s, but this machine has no more than %s", variable, word, have)
	}
	return want, nil
}
