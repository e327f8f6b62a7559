package main

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A number of a flag is what a number of a cell is: decimal digits with at most one point, a sign before them and a power of ten
// after them if need be, and spaces around it. Leading zeros say nothing: 010 is ten. No other spelling is one: not 0x10, 1_000,
// 1,000, inf or nan, and not an empty word.
var numberForm = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

var (
	errNumber  = errors.New("it must be a number, such as 3, 0.5 or 1e-3")
	errWhole   = errors.New("it must be a whole number, such as 3")
	errNatural = errors.New("it must be a whole number, at least 0")
	errFar     = errors.New("it is too large")
)

// parseFloat reads a number.
func parseFloat(word string) (float64, error) {
	word = strings.TrimSpace(word)
	if !numberForm.MatchString(word) {
		return 0, errNumber
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil { // out of range: the form is right
		return 0, errFar
	}
	return v, nil
}

// exactly53 is the largest number below which every whole number is a float64.
const exactly53 = 1 << 53

// parseInt reads a whole number: 3, and 3.0 and 3e0 too, which are the same number.
func parseInt(word string) (int64, error) {
	word = strings.TrimSpace(word)
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, nil
	}
	v, err := parseFloat(word)
	switch {
	case err == errFar:
		return 0, errFar
	case err != nil || v != math.Trunc(v):
		return 0, errWhole
	case math.Abs(v) > exactly53:
		return 0, errFar
	}
	return int64(v), nil
}

// parseUint reads a whole number that is not below 0.
func parseUint(word string) (uint64, error) {
	word = strings.TrimPrefix(strings.TrimSpace(word), "+")
	if n, err := strconv.ParseUint(word, 10, 64); err == nil {
		return n, nil
	}
	n, err := parseInt(word)
	switch {
	case err == errFar:
		return 0, errFar
	case err != nil || n < 0:
		return 0, errNatural
	}
	return uint64(n), nil
}

// numeric is a flag that holds a number: it takes what parseInt, parseUint or parseFloat take, and hands the flag below the
// plain digits.
type numeric struct{ pflag.Value }

// Set reads the number that word spells.
func (n numeric) Set(word string) error {
	var plain string
	switch n.Type() {
	case "int", "int64":
		v, err := parseInt(word)
		if err != nil {
			return err
		}
		plain = strconv.FormatInt(v, 10)
	case "uint64":
		v, err := parseUint(word)
		if err != nil {
			return err
		}
		plain = strconv.FormatUint(v, 10)
	default:
		v, err := parseFloat(word)
		if err != nil {
			return err
		}
		plain = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return n.Value.Set(plain)
}

// plainNumbers makes every flag of cmd that holds a number one of numeric, so that all commands read numbers alike.
func plainNumbers(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "int64", "uint64", "float64":
			f.Value = numeric{f.Value}
		}
	})
	for _, sub := range cmd.Commands() {
		plainNumbers(sub)
	}
}
