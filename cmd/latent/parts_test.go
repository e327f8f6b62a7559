package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// saleLines are rows of a table with numbers, gaps, a level, a date, a weight and an id, in three groups.
func saleLines(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		g := float64(i % 3)
		x, colour := fmt.Sprintf("%.4f", 4*g+math.Sin(float64(i*i))), []string{"red", "green", "blue"}[i%3]
		if i%13 == 4 {
			x = ""
		}
		if i%7 == 0 {
			colour = "grey"
		}
		lines[i] = fmt.Sprintf("%s,%.4f,%s,2024-0%d-%02d,%d,n%d\n", x, -3*g+math.Cos(float64(3*i*i)), colour, 1+i%3, 1+i%28, 1+i%2, i)
	}
	return lines
}

// TestPartsGiveTheSameModel: model and labels of a table in parts are byte for byte those of one file, in memory and streamed, for any
// number of threads; only the name of the table differs.
func TestPartsGiveTheSameModel(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = 1500
	lines := saleLines(n)
	text := func(lo, hi int) []byte { return []byte("x,y,colour,when,w,name\n" + strings.Join(lines[lo:hi], "")) }
	put := func(path string, b []byte) {
		t.Helper()
		os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("whole.csv", text(0, n))
	cuts := []int{0, 0, 40, 41, 900, n}
	for i, lo := range cuts[:len(cuts)-1] {
		put(fmt.Sprintf("sales/part-%d.csv", i), text(lo, cuts[i+1]))
	}
	name := regexp.MustCompile(`"data":"[^"]*"`)
	for _, fit := range []string{
		"--id name --weight-column w --transform date:when -k 3 --n-init 2",
		"--model kmeans --columns y,w --id name -k 3",
		"--model categorical --columns colour -k 2 --n-init 1",
	} {
		var model, labels []byte
		for _, from := range []string{"whole.csv", "sales", "sales --stream --threads 1", "sales/*.csv --threads 3", "sales --stream --threads 3"} {
			var said bytes.Buffer
			args := append(strings.Fields("fit "+from+" "+fit), "-q", "--allow-unconverged", "-o", "m.json", "--labels", "l.csv")
			if status := run(context.Background(), args, strings.NewReader(""), &said, &said); status != 0 {
				t.Fatalf("%s: status %d, %s", from, status, &said)
			}
			m, err := os.ReadFile("m.json")
			if err != nil {
				t.Fatal(err)
			}
			l, err := os.ReadFile("l.csv")
			if err != nil {
				t.Fatal(err)
			}
			if m = name.ReplaceAll(m, nil); model == nil {
				model, labels = m, l
			}
			if !bytes.Equal(m, model) {
				t.Errorf("%s: %s: another model", from, fit)
			}
			if !bytes.Equal(l, labels) {
				t.Errorf("%s: %s: other labels", from, fit)
			}
		}
	}
}
