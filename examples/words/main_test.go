package main

import (
	"fmt"
	"strings"
	"testing"
)

// By chance 23 of the other 47 tiles are of the same picture: 23.5 of 48 expected, with a standard deviation of 3.5. 32 is
// 2.4 of them above.
func TestWordsTellPicturesApart(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, line := range strings.Split(out.String(), "\n") {
		var name string
		var of, same int
		if n, _ := fmt.Sscanf(line, "%s of %d tiles the tile most alike is of the same picture for %d", &name, &of, &same); n == 3 {
			total += same
		}
	}
	if total < 32 {
		t.Errorf("the tile most alike is of the same picture for %d of 48 tiles, want at least 32\n%s", total, out.String())
	}
}
