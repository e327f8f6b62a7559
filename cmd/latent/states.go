package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
)

// mostNext is how many states may have all of their transitions in a summary; of more, each state's likeliest next one is told.
const mostNext = 10

// states prints how the states of a hidden Markov model follow each other: a line for each, with the probabilities of the state of the next row.
func states(w io.Writer, r *latent.Result) {
	k := len(r.Transitions)
	if k == 0 {
		return
	}
	head := []string{"from"}
	for b := range k {
		if k <= mostNext {
			head = append(head, "to "+strconv.Itoa(b+1))
		}
	}
	if k > mostNext {
		head = append(head, "stays", "likeliest other")
	}
	head = append(head, "mean stay", "begins")
	begins := text.Percents(r.Initial, 1)
	lines := make([][]string, k)
	for a, row := range r.Transitions {
		line := []string{strconv.Itoa(a + 1)}
		if k <= mostNext {
			for _, p := range row {
				line = append(line, text.Share(p, 4))
			}
		} else {
			line = append(line, text.Share(row[a], 4), likeliestOther(row, a))
		}
		lines[a] = append(line, tell.Stay(&r.Components[a]), begins[a])
	}
	fmt.Fprintln(w)
	printTable(w, head, lines)
	fmt.Fprintln(w, "(probability of the next row's state; how many rows a stay lasts on average; how often a sequence begins there)")
}

// likeliestOther returns the likeliest state after state a, but for a itself, and its probability.
func likeliestOther(row []float64, a int) string {
	best := -1
	for b, p := range row {
		if b != a && (best < 0 || p > row[best]) {
			best = b
		}
	}
	if best < 0 || row[best] == 0 {
		return "-"
	}
	return fmt.Sprintf("%d: %s", best+1, text.Share(row[best], 4))
}
