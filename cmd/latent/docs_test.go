package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write anew what pages of documentation show, but where a line ... stands for others, and the files that scripts compare with")

// What the documentation shows is what the command does. Every fenced block of README.md and docs/*.md that begins
// with "$ " is run, each page in an empty folder of its own, and what it prints must be what the page shows. A line
// "..." stands for any lines, and "..." at the end of a line for any rest. Seconds and, by a fifth, sweeps in a table may differ. A file shown by "$ cat" that is not there yet is made of what is shown.
func TestDocumentation(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(pages, filepath.Join(root, "README.md")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			var sh shell
			page := strings.Split(string(b), "\n")
			for _, f := range slices.Backward(sh.page(t, page)) {
				if *update {
					page = slices.Replace(page, f.from, f.to, f.got...)
				}
			}
			if *update {
				if err := os.WriteFile(path, []byte(strings.Join(page, "\n")), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// fence is a block of a page: its lines are page[from:to].
type fence struct {
	from, to int
	info     string   // the word after the opening fence
	got      []string // what the block should hold
}

// fences finds the blocks of a page.
func fences(page []string) (all []fence) {
	open := -1
	for i, line := range page {
		switch {
		case !strings.HasPrefix(line, "```"):
		case open < 0:
			open = i
		default:
			all = append(all, fence{from: open + 1, to: i, info: strings.TrimPrefix(page[open], "```")})
			open = -1
		}
	}
	return all
}

// shell runs the few commands that pages use.
type shell struct {
	status int // of the last command
}

// page runs the blocks of commands and returns them.
func (sh *shell) page(t *testing.T, page []string) (ran []fence) {
	for _, f := range fences(page) {
		lines := page[f.from:f.to]
		if len(lines) == 0 || !strings.HasPrefix(lines[0], "$ ") {
			continue
		}
		for len(lines) > 0 {
			command, n := lines[0], 1
			for n < len(lines) && !strings.HasPrefix(lines[n], "$ ") {
				n++
			}
			shown := lines[1:n]
			lines = lines[n:]
			got, err := sh.run(strings.TrimPrefix(command, "$ "), shown)
			if err != nil {
				t.Fatalf("%s\n%v", command, err)
			}
			slack := 0.2
			if *update {
				slack = 0
			}
			same := alike(shown, got) || alikeTable(shown, got, slack)
			if (!*update || elided(shown)) && !same { // what is elided is written anew by hand
				t.Errorf("%s\n--- the page shows\n%s\n--- the command prints\n%s", command, strings.Join(shown, "\n"), strings.Join(got, "\n"))
			}
			if elided(shown) || same {
				got = shown
			}
			f.got = append(append(f.got, command), got...)
		}
		ran = append(ran, f)
	}
	return ran
}

// run runs one command line and returns the lines of its output, standard error included.
func (sh *shell) run(line string, shown []string) ([]string, error) {
	args, err := words(line)
	if err != nil {
		return nil, err
	}
	var in io.Reader = strings.NewReader("")
	var out bytes.Buffer
	var to string
	for len(args) > 2 && (args[len(args)-2] == "<" || args[len(args)-2] == ">") {
		name := args[len(args)-1]
		if args[len(args)-2] == ">" {
			to = name
		} else {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			in = bytes.NewReader(b)
		}
		args = args[:len(args)-2]
	}
	if len(args) > 3 && strings.Join(args[:3], " ") == "go run ./cmd/latent" {
		args = append([]string{"latent"}, args[3:]...)
	}
	switch args[0] {
	case "latent":
		var errw io.Writer = &out
		var kept bytes.Buffer
		if to != "" {
			errw = &kept
		}
		sh.status = run(context.Background(), args[1:], in, &out, errw)
		if to != "" {
			if err := os.WriteFile(to, out.Bytes(), 0o666); err != nil {
				return nil, err
			}
			out = kept
		}
	case "echo":
		if len(args) != 2 || args[1] != "$?" {
			return nil, errors.New("only echo $? is known")
		}
		fmt.Fprintln(&out, sh.status)
	case "cat":
		b, err := os.ReadFile(args[1])
		if os.IsNotExist(err) {
			b = []byte(strings.Join(shown, "\n") + "\n")
			err = os.WriteFile(args[1], b, 0o666)
		}
		if err != nil {
			return nil, err
		}
		out.Write(b)
	case "head": // head -3 FILE
		b, err := os.ReadFile(args[2])
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(strings.TrimPrefix(args[1], "-"))
		if err != nil {
			return nil, err
		}
		lines := strings.SplitAfter(string(b), "\n")
		out.WriteString(strings.Join(lines[:min(n, len(lines))], ""))
	case "mkdir":
		if err := os.Mkdir(args[1], 0o777); err != nil {
			return nil, err
		}
	case "ls":
		entries, err := os.ReadDir(args[1])
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			fmt.Fprintln(&out, e.Name())
		}
	default:
		return nil, fmt.Errorf("%q is not known here", args[0])
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if text == "" {
		return nil, nil
	}
	got := strings.Split(text, "\n")
	for i := range got {
		got[i] = strings.TrimRight(got[i], " ")
	}
	return got, nil
}

// words splits a command line at spaces outside quotes.
func words(line string) (args []string, err error) {
	var word strings.Builder
	quote, inside := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ':
			if inside {
				args = append(args, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is not closed: %s", line)
	}
	if inside {
		args = append(args, word.String())
	}
	return args, nil
}

// elided reports whether something is left out.
func elided(lines []string) bool {
	return slices.ContainsFunc(lines, func(s string) bool { return strings.HasSuffix(s, "...") })
}

// alikeTable compares tables of latent compare. No two runs take the same seconds, and when a climb ends may hang on the
// last digit of a sum: sweeps may differ by the share slack, the smallest weight by a twentieth of that.
func alikeTable(shown, got []string, slack float64) bool {
	const sweeps, seconds, weight = 4, 7, 16 // fields of a line: em, 5 of 5, three counts of sweeps, seconds, ...
	share := map[int]float64{sweeps: slack, sweeps + 1: slack, sweeps + 2: slack, seconds: math.Inf(1), weight: slack / 20}
	if len(shown) == 0 || len(shown) != len(got) || !strings.Contains(shown[0], " seconds ") {
		return false
	}
	for i := range shown {
		a, b := strings.Fields(shown[i]), strings.Fields(got[i])
		if len(a) != len(b) {
			return false
		}
		for j := range a {
			v, err1 := strconv.ParseFloat(strings.ReplaceAll(a[j], ",", ""), 64)
			w, err2 := strconv.ParseFloat(strings.ReplaceAll(b[j], ",", ""), 64)
			near := err1 == nil && err2 == nil && math.Abs(v-w) <= share[j]*v
			if !near && !alikeLine(a[j], b[j]) {
				return false
			}
		}
	}
	return true
}

// alike compares output with what is shown, where "..." stands for any lines.
func alike(shown, got []string) bool {
	if len(shown) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(shown[0]) != "..." {
		return len(got) > 0 && alikeLine(shown[0], got[0]) && alike(shown[1:], got[1:])
	}
	for i := range len(got) + 1 {
		if alike(shown[1:], got[i:]) {
			return true
		}
	}
	return false
}

var numberRE = regexp.MustCompile(`\d+(\.\d+)?(e[-+]?\d+)?`)

// alikeLine lets long numbers differ in the digits that depend on the processor, which may fuse a product and a sum into
// one operation or add in another order. A millionth is far above that and far below what a reader would see, and so is 1e-15 in place of 0.
func alikeLine(a, b string) bool {
	if start, cut := strings.CutSuffix(a, "..."); cut {
		for n := max(len(start)-9, 0); n <= min(len(start)+9, len(b)); n++ { // numbers may be longer or shorter
			if alikeLine(start, b[:n]) {
				return true
			}
		}
		return false
	}
	if a == b {
		return true
	}
	if numberRE.ReplaceAllString(a, "#") != numberRE.ReplaceAllString(b, "#") {
		return false
	}
	x, y := numberRE.FindAllString(a, -1), numberRE.FindAllString(b, -1)
	for i := range x {
		v, err1 := strconv.ParseFloat(x[i], 64)
		w, err2 := strconv.ParseFloat(y[i], 64)
		if err1 != nil || err2 != nil || !(math.Abs(v-w) <= 1e-6*math.Abs(v)+1e-15) {
			return false
		}
	}
	return true
}

// The programs in docs/tasks.md compile, and print what the block below them shows.
func TestDocumentedPrograms(t *testing.T) {
	b, err := os.ReadFile("../../docs/tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Split(string(b), "\n")
	all := fences(page)
	found := 0
	for i, f := range all {
		if f.info != "go" {
			continue
		}
		found++
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(strings.Join(page[f.from:f.to], "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", file)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if i+1 == len(all) {
			t.Fatal("no block shows what the program prints")
		}
		shown := page[all[i+1].from:all[i+1].to]
		if got := strings.Split(strings.TrimSpace(string(out)), "\n"); !alike(shown, got) {
			t.Errorf("the page shows\n%s\nthe program prints\n%s", strings.Join(shown, "\n"), strings.Join(got, "\n"))
		}
	}
	if found == 0 {
		t.Error("the page has no program")
	}
}
