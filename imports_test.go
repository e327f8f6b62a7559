package latent_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The packages import each other as docs/design.md says, and in no other way.
func TestImportsAreThoseOfTheDesign(t *testing.T) {
	t.Parallel()
	const root = "github.com/latent-go/latent"
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "```imports\n")
	block, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("docs/design.md has no table of imports")
	}
	may := map[string][]string{}
	for line := range strings.Lines(block) {
		name, allowed, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("%q is no line of the table", line)
		}
		may[name] = strings.Fields(allowed)
	}
	short := func(path string) (name string, own bool) {
		if path == root {
			return "latent", true
		}
		name, own = strings.CutPrefix(path, root+"/")
		return strings.TrimPrefix(name, "internal/"), own
	}
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		name, _ := short(paths[0])
		if strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "docs/") || strings.HasSuffix(name, "test") {
			continue
		}
		allowed, listed := may[name]
		if !listed {
			t.Errorf("%s is not in the table", name)
		}
		seen++
		for _, path := range paths[1:] {
			if to, own := short(path); own && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s, which the table does not allow", name, to)
			}
		}
	}
	if seen != len(may) {
		t.Errorf("the table has %d packages, the project %d", len(may), seen)
	}
}
