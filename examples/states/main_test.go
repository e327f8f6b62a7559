package main

import (
	"strings"
	"testing"
)

// Nine days of sales change once in each shop, so the states are their two levels, and forecasts move from the last one to the middle.
func TestForecastsGoOnFromTheLastState(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"state 1: 42 sold a day, 9.0 days at a time\n", "state 2: 88 sold a day, 7.0 days at a time\n", "north ends in state 2", "south ends in state 1", "north, 3 days ahead: 7", "south, 3 days ahead: 5"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
