//go:build !purego

package kern

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A machine with AVX2 alone has 16 vector registers, no masks, and products of bytes in no encoding. The assembler takes these without a
// word. Those of AVX-VNNI are words and bytes.
func TestAVX2UsesItsOwnRegisters(t *testing.T) {
	foreign := regexp.MustCompile(`(?m)\b(Z\d+|K[0-7]|[XY](1[6-9]|2\d|3[01]))\b|^\tVPDP\w+`)
	encoded := regexp.MustCompile(`(?m)^\t(LONG|BYTE)\b`)
	avx2 := regexp.MustCompile(`(AVX2|256(VNNI)?(x\d+|f32|f64)?)$`)
	for file, want := range map[string]int{"zbits_amd64.s": 3, "ztext_amd64.s": 3, "zcolumns_amd64.s": 9, "zgmm_amd64.s": 24, "zl1_amd64.s": 5, "zlanes_amd64.s": 7, "zquantise_amd64.s": 4, "zintegers_amd64.s": 55, "znearest_amd64.s": 20} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		functions := 0
		for _, f := range strings.Split(string(text), "\nTEXT ·")[1:] {
			name, body, _ := strings.Cut(f, "(SB)")
			if !avx2.MatchString(name) {
				continue
			}
			functions++
			if r := foreign.FindString(body); r != "" {
				t.Errorf("%s uses %s", name, r)
			}
			if vnni := strings.Contains(name, "VNNI"); encoded.MatchString(body) != vnni {
				t.Errorf("%s: instructions that are written as words: %v", name, !vnni)
			}
		}
		if functions != want {
			t.Errorf("%s has %d functions of AVX2, want %d", file, functions, want)
		}
	}
}
