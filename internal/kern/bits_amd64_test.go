//go:build !purego

package kern

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// As for gmm_amd64.s: nothing of AVX-512 in a function of AVX2.
func TestBitsOfAVX2UseTheirOwnRegisters(t *testing.T) {
	text, err := os.ReadFile("bits_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	foreign := regexp.MustCompile(`\b(Z\d+|K[0-7]|[XY](1[6-9]|2\d|3[01]))\b`)
	functions := 0
	for _, f := range strings.Split(string(text), "\nTEXT ·")[1:] {
		name, body, _ := strings.Cut(f, "(SB)")
		if !strings.HasSuffix(name, "AVX2") {
			continue
		}
		functions++
		if r := foreign.FindString(body); r != "" {
			t.Errorf("%s uses %s", name, r)
		}
	}
	if functions != 3 {
		t.Errorf("%d functions of AVX2", functions)
	}
}
