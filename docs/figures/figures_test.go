package main

import (
	"bytes"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var numbers = regexp.MustCompile(`-?\d+(\.\d+)?`)

// Coordinates are rounded to two decimals, and processors may differ in the last of them. Everything else is exact.
func TestFilesAreWhatTheProgramDraws(t *testing.T) {
	for _, f := range figures {
		want, err := os.ReadFile(f.file)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := f.draw().WriteSVG(&got); err != nil {
			t.Fatal(err)
		}
		if differ := difference(got.String(), string(want)); differ != "" {
			t.Errorf("%s is not what the program draws: %s; run go run ./docs/figures", f.file, differ)
		}
	}
}

// difference says how two drawings differ; empty if they do not.
func difference(got, want string) string {
	if numbers.ReplaceAllString(got, "#") != numbers.ReplaceAllString(want, "#") {
		return "another text or other lines"
	}
	a, b := numbers.FindAllString(got, -1), numbers.FindAllString(want, -1)
	for i := range a {
		v, err1 := strconv.ParseFloat(a[i], 64)
		w, err2 := strconv.ParseFloat(b[i], 64)
		if err1 != nil || err2 != nil || math.Abs(v-w) > 0.02 {
			return a[i] + " in place of " + b[i]
		}
	}
	return ""
}

func TestADrawingThatDiffersIsSeen(t *testing.T) {
	const drawing = `<path d="M1.25 7"/><text x="3">0.8</text>`
	for other, same := range map[string]bool{
		drawing: true,
		`<path d="M1.26 7"/><text x="3">0.8</text>`: true,
		`<path d="M1.35 7"/><text x="3">0.8</text>`: false,
		`<path d="M1.25 7"/><text x="3">KL</text>`:  false,
	} {
		if (difference(other, drawing) == "") != same {
			t.Errorf("%s is taken to be the same: %v", other, !same)
		}
	}
}

func TestAFigureIsTheSameBytesEachTime(t *testing.T) {
	for _, f := range figures {
		var a, b bytes.Buffer
		if err := f.draw().WriteSVG(&a); err != nil {
			t.Fatal(err)
		}
		if err := f.draw().WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Error(f.file)
		}
	}
}

// Every figure is on the page, and every line of Go on the page is a line of the program.
func TestPageShowsTheProgram(t *testing.T) {
	page, err := os.ReadFile("../pictures.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		if !strings.Contains(string(page), "](figures/"+f.file+")") {
			t.Errorf("%s is not on the page", f.file)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var program []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		b, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		program = append(program, bare(string(b))...)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) == 0 {
		t.Error("the page shows no Go")
	}
	for _, b := range blocks {
		for _, line := range bare(b[1]) {
			if !slices.Contains(program, line) {
				t.Errorf("the program has no line %q", line)
			}
		}
	}
}

// bare returns the lines of a program with single blanks and without comments.
func bare(s string) (lines []string) {
	for line := range strings.Lines(s) {
		code, _, _ := strings.Cut(line, "//")
		if code = strings.Join(strings.Fields(code), " "); code != "" {
			lines = append(lines, code)
		}
	}
	return lines
}
