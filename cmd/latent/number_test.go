package main

import (
	"math"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestNumbersOfFlagsAreThoseOfCells(t *testing.T) {
	nan := math.NaN() // no number
	for _, c := range []struct {
		word         string
		float, whole float64
	}{
		{"3", 3, 3}, {"+3", 3, 3}, {"-3", -3, -3}, {" 3 ", 3, 3}, {"3.0", 3, 3}, {"3.", 3, 3}, {"1e3", 1000, 1000}, {"1E+3", 1000, 1000}, {"12e-1", 1.2, nan}, {"120e-1", 12, 12},
		{"010", 10, 10}, {".5", 0.5, nan}, {"0.5", 0.5, nan}, {"-0", 0, 0}, {"9007199254740992", 1 << 53, 1 << 53},
		{"", nan, nan}, {" ", nan, nan}, {"1_000", nan, nan}, {"0x10", nan, nan}, {"0b1", nan, nan}, {"0o7", nan, nan}, {"1,000", nan, nan}, {"0,5", nan, nan}, {"inf", nan, nan}, {"+Inf", nan, nan},
		{"Infinity", nan, nan}, {"nan", nan, nan}, {"NaN", nan, nan}, {"1e", nan, nan}, {"e3", nan, nan}, {".", nan, nan}, {"+", nan, nan}, {"--3", nan, nan}, {"3 4", nan, nan}, {"3k", nan, nan},
		{"1e400", nan, nan}, {"0x1p-2", nan, nan}, {"３", nan, nan},
	} {
		same := func(what string, got float64, err error, want float64) {
			if (err != nil) != (want != want) || err == nil && got != want {
				t.Errorf("%q as %s: %v (%v), not %v", c.word, what, got, err, want)
			}
		}
		f, err := parseFloat(c.word)
		same("a number", f, err, c.float)
		n, err := parseInt(c.word)
		same("a whole number", float64(n), err, c.whole)
		u, err := parseUint(c.word)
		if c.whole < 0 {
			c.whole = nan
		}
		same("a number from 0", float64(u), err, c.whole)
	}
	if u, err := parseUint("18446744073709551615"); u != math.MaxUint64 || err != nil {
		t.Error("the largest seed:", u, err)
	}
	for _, word := range []string{"18446744073709551616", "1e19", "9007199254740993.0"} {
		if u, err := parseUint(word); err == nil && word != "9007199254740993.0" {
			t.Errorf("%s is %d", word, u)
		}
	}
}

// Whatever a command adds: a flag that holds a number refuses what is none.
func TestEveryFlagOfNumbersRefusesOtherSpellings(t *testing.T) {
	flags := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "string", "bool", "stringSlice", "stringArray":
				return
			}
			unit, scale := "", ""
			if f.Name == "max-memory" { // at least a million bytes
				unit, scale = "M", "485760"
			}
			flags++
			for _, word := range []string{"", "1_000", "0x10", "inf", "nan", "1,5", "three"} {
				if err := cmd.Flags().Set(f.Name, word+unit); err == nil {
					t.Errorf("%s --%s takes %q as %s", cmd.Name(), f.Name, word, f.Value)
				}
			}
			for word, want := range map[string]string{"010": "10", "1e1": "10", " 10 ": "10", "+10.0": "10"} {
				if err := cmd.Flags().Set(f.Name, word+unit); err != nil || f.Value.String() != want+scale {
					t.Errorf("%s --%s %q is %s: %v", cmd.Name(), f.Name, word, f.Value, err)
				}
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	if flags < 20 {
		t.Errorf("%d flags of numbers were found", flags)
	}
}
