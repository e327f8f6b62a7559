package kern

import (
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

// level is the one in use. It is set before main begins and by tests.
var level, levelErr = choose(os.Getenv(Env), detect())

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

// Err says what is wrong with the value of LATENT_SIMD: a word that is not known, or a level this machine does not have.
func Err() error { return levelErr }

// choose returns the level that the word asks for, in any case; "" and auto ask for the highest.
func choose(word string, have Level) (Level, error) {
	switch name := strings.ToLower(word); name {
	case "", "auto":
		return have, nil
	case "off", "go":
		return Go, nil
	case "avx2", "avx512":
		want := AVX2
		if name == "avx512" {
			want = AVX512
		}
		if want > have {
			return have, fmt.Errorf("%s is %s, but this machine has no more than %s", Env, word, have)
		}
		return want, nil
	}
	return have, fmt.Errorf("%s is %q; it must be auto, off, avx2 or avx512", Env, word)
}
