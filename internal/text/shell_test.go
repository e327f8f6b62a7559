package text

import (
	"os/exec"
	"testing"
)

// TestShellWordArrivesUnchanged asks the shell of this system what arrives.
func TestShellWordArrivesUnchanged(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh here")
	}
	for _, word := range []string{"", "age", "price ($)", "it's", `a"b`, `back\slash`, "a*b?", "~home", "=x", "x=y", "#1", "a;b", "a&b", "`id`", "$HOME", "größe", "no\u00a0break", "!x", "a,b", "-x", "two\nlines", "{a,b}", "[a]", "50%"} {
		out, err := exec.Command(sh, "-c", "printf %s "+ShellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is written %s, which arrives as %q (%v)", word, ShellWord(word), out, err)
		}
	}
}

func TestShellWordLeavesPlainWordsAlone(t *testing.T) {
	for _, word := range []string{"age", "bill_length_mm", "a-d", "größe", "a,b", "x.1", "/data/t.csv", "50%"} {
		if got := ShellWord(word); got != word {
			t.Errorf("%q became %s", word, got)
		}
	}
}
