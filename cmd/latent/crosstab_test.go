package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/latent-go/latent/score"
)

// A table of many groups and classes fits the page: the smaller ones are counted together, and no row is lost.
func TestCrosstabOfManyFitsThePage(t *testing.T) {
	for _, x := range []struct{ groups, classes int }{{2, 2}, {3, 12}, {25, 3}, {30, 60}} {
		var groups []int
		var classes []string
		for g := range x.groups {
			groups = append(groups, g+1)
		}
		for c := range x.classes {
			classes = append(classes, fmt.Sprintf("class number %d of the table", c+1))
		}
		sum := 0.0
		c := score.NewCrosstab(groups, classes, func(g int, class string) float64 {
			v := float64(g * len(class) % 7 * 100)
			sum += v
			return v
		})
		var b bytes.Buffer
		newTable(c, "group").tell(&b, "the column kind")
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) > mostGroupLines+3 {
			t.Errorf("%v: %d lines", x, len(lines))
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%v: a line of %d letters: %s", x, n, line)
			}
		}
		last := strings.Fields(lines[len(lines)-1])
		if got, err := strconv.ParseFloat(strings.ReplaceAll(last[len(last)-1], ",", ""), 64); err != nil || got != sum {
			t.Errorf("%v: %s rows in all, want %v", x, last[len(last)-1], sum)
		}
		if others := strings.Contains(b.String(), " others"); others != (x.groups > mostGroupLines || x.classes > 4) {
			t.Errorf("%v: others %v\n%s", x, others, &b)
		}
	}
}

// A share is not rounded to none or all.
func TestSharesOfACrosstab(t *testing.T) {
	for v, want := range map[float64]string{0: "0%", 0.001: "<1%", 0.5: "50%", 0.999: ">99%", 1: "100%"} {
		if got := (&crossTable{compact: true}).share(v); got != want {
			t.Errorf("%v reads %s, want %s", v, got, want)
		}
	}
}
