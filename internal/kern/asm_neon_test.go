package kern

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Processors of level neon lack dot products, and the assembler takes these without a word; so it does registers that belong to the
// system or to Go. This reads text, whatever the processor.
func TestNEONUsesItsOwnInstructionsAndRegisters(t *testing.T) {
	files, err := filepath.Glob("z*_arm64.s")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d files of assembly (%v), want 5", len(files), err)
	}
	dot, foreign := regexp.MustCompile(`\b[su]dot\b`), regexp.MustCompile(`\bR(18|2[6-9]|3\d)\b`)
	functions, dots := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range strings.Split(string(text), "\nTEXT ·")[1:] {
			name, body, _ := strings.Cut(f, "(SB)")
			functions++
			if dot.MatchString(body) {
				if dots++; !strings.HasPrefix(name, "bytes") {
					t.Errorf("%s uses dot products", name)
				}
			}
			if r := foreign.FindString(body); r != "" {
				t.Errorf("%s uses %s", name, r)
			}
		}
	}
	if functions != 76 || dots != 12 {
		t.Errorf("%d functions, %d with dot products, want 76 and 12", functions, dots)
	}
}
