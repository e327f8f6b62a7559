package main

import (
	"testing"

	"github.com/latent-go/latent/plot"
)

// Where ends tie nobody is first.
func TestNobodyIsFirstInATie(t *testing.T) {
	lines := []plot.Series{{Name: "em"}, {Name: "squarem"}, {Name: "em-lbfgs"}}
	for _, x := range []struct {
		ends []float64
		want string
	}{
		{[]float64{-1126.3159, -1126.3160, -1126.31595}, "A tie: all 3 end at -1,126.3159 nats"},
		{[]float64{-1140, -1126.3159, -1126.3158}, "A tie: squarem and em-lbfgs end at -1,126.3158 nats; the lowest end is 14 below"},
		{[]float64{-1140, -1130, -1126}, "Highest: em-lbfgs, at -1,126 nats; the lowest end is 14 below"},
		{[]float64{-1126}, "em ends at -1,126 nats"},
	} {
		if got := leaders(lines[:len(x.ends)], x.ends); got != x.want {
			t.Errorf("%v: %q, want %q", x.ends, got, x.want)
		}
	}
}
