package arm64

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// instructions are instructions of every form with numbers drawn at random, behind their words by GNU as 2.40 (-march=armv8.4-a).
//
//go:embed testdata/instructions.txt
var instructions string

func TestWordsAreThoseOfAnotherAssembler(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(instructions) {
		want, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		word, err := encode(text)
		if got := fmt.Sprintf("%08x", word); err != nil || got != want {
			t.Errorf("%s is %s (%v), want %s", text, got, err, want)
		}
		seen[regexp.MustCompile(`([vs])\d+|(\[)\d+|(#)\d+`).ReplaceAllString(text, "$1$2$3")] = true
	}
	for form := range forms {
		if !seen[form] {
			t.Errorf("no instruction has the form %q", form)
		}
	}
}

func TestUnknownInstructionsAreErrors(t *testing.T) {
	for _, text := range []string{"fmla v0.8h, v1.8h, v2.8h", "add v0.2d, v1.2d", "ret"} {
		if word, err := encode(text); err == nil {
			t.Errorf("%s is %08x", text, word)
		}
	}
}
