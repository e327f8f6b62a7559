package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
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

// Limits of the strips that a drawing on the terminal has.
const (
	mostStrips  = 8  // sequences, the first ones
	longestName = 16 // characters of the name of each
)

// drawStates draws which states rows are in over time: a line for each of the first sequences, by name, and a sign, the number of the state, for
// each row, or for some rows the state that most of them are in.
func drawStates(w io.Writer, page plotPage, rows *rowSource) error {
	var labels [][]int32 // of the first sequences
	all := 0             // sequences
	err := rows.model.Decode(rows.ctx, rows.src, model.Viterbi, rows.threads, func(s *model.Scored) error {
		for i, label := range s.Label {
			of := 0
			if s.Sequence != nil {
				of = int(s.Sequence[i])
			}
			all = max(all, of+1)
			if of >= mostStrips {
				continue
			}
			if of == len(labels) {
				labels = append(labels, nil)
			}
			labels[of] = append(labels[of], label)
		}
		return nil
	})
	longest := 0
	for _, list := range labels {
		longest = max(longest, len(list))
	}
	if err != nil || longest == 0 {
		return err
	}
	names := make([]string, len(labels))
	for i := range names {
		names[i] = cutAtBlank(sequenceName(rows.sequences, i), longestName)
	}
	names = padded(names)
	width := page.width - utf8.RuneCountInString(names[0]) - 1
	each := (longest + width - 1) / width
	what := "a sign a row"
	if each > 1 {
		what = fmt.Sprintf("a sign for %d rows, the state of most of them", each)
	}
	if len(labels) < all {
		what += fmt.Sprintf("; the first %d of %s", len(labels), text.Count(all, "sequence"))
	}
	fmt.Fprintf(w, "\nstates over time, %s:\n", what)
	for i, list := range labels {
		fmt.Fprint(printable{w}, names[i], " ")
		fmt.Fprintln(w, page.strip(list, each))
	}
	return nil
}

// strip writes states, from 0, with one sign for so many rows each.
func (p plotPage) strip(states []int32, each int) string {
	var b strings.Builder
	before := int32(-1)
	for part := range slices.Chunk(states, each) {
		times, most := map[int32]int{}, part[0]
		for _, s := range part {
			if times[s]++; times[s] > times[most] {
				most = s
			}
		}
		if p.colours && most != before {
			b.WriteString(escape(int(most) + 1))
		}
		before = most
		b.WriteRune(sign(int(most)))
	}
	if p.colours {
		b.WriteString(escape(0))
	}
	return b.String()
}
