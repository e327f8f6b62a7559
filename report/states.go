package report

import (
	"fmt"
	"slices"

	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// How much of the sequences of a hidden Markov model a page shows.
const (
	stripped     = 30        // sequences whose states are drawn, the first ones
	stripRows    = 1_000_000 // rows of them, in all
	timed        = 1000      // rows of the longest of these whose cells are drawn
	timedColumns = 3         // columns of it
)

// A Sequence is the states of the rows of a sequence, in their order in time.
type Sequence struct {
	Number int         // among those of the rows, from 0
	States []int       // of each row, from 0
	rows   [][]float64 // the cells of the first ones
}

// addState adds row i of s, whose cells are x, to its sequence, if that is shown.
func (g *gatherer) addState(s *model.Scored, i int, x []float64) {
	of := 0
	if s.Sequence != nil {
		of = int(s.Sequence[i])
	}
	if of >= g.Sequences {
		g.Sequences = of + 1
	}
	if of >= stripped || g.stripped == stripRows {
		return
	}
	if of >= len(g.States) {
		g.States = append(g.States, Sequence{Number: of})
	}
	q := &g.States[len(g.States)-1]
	q.States = append(q.States, int(s.Label[i]))
	if len(q.rows) < timed {
		q.rows = append(q.rows, slices.Clone(x))
	}
	g.stripped++
}

// states shows which states the rows are in over time.
func (b *builder) states() {
	if len(b.rows.States) == 0 {
		return
	}
	s := &section{ID: "states", Title: "The states over time"}
	s.Lead = append(s.Lead, "A row stands behind the one before it. Its state is the one on the likeliest path through all rows of its sequence.")
	strips := plot.Strips{Head: plot.Head{Title: b.stays(), Width: wide}, X: plot.Axis{Label: "row of the sequence"}, States: b.names}
	shown := 0
	for _, q := range b.rows.States {
		strips.Sequences = append(strips.Sequences, plot.Strip{Name: b.sequenceName(q.Number), States: q.States})
		shown += len(q.States)
	}
	switch {
	case len(b.rows.States) < b.rows.Sequences:
		strips.Note = fmt.Sprintf("The first %d of %s", len(b.rows.States), text.Count(b.rows.Sequences, "sequence"))
	case int64(shown) < b.rows.N:
		strips.Note = fmt.Sprintf("The first %s of %s", text.Thousands(int64(shown)), text.Count(b.rows.N, "row"))
	}
	b.draw(s, strips)
	b.timelines(s)
	s.Data = append(s.Data, b.transitions())
	b.add(s)
}

// stays says which state lasts longest.
func (b *builder) stays() string {
	longest := -1
	for c, u := range b.r.Components {
		if u.Stay == nil {
			return fmt.Sprintf("State %d is never left", c+1)
		}
		if longest < 0 || *u.Stay > *b.r.Components[longest].Stay {
			longest = c
		}
	}
	return fmt.Sprintf("A stay in state %d lasts longest: %s on average", longest+1, tell.Stay(&b.r.Components[longest]))
}

// sequenceName returns what a sequence is called.
func (b *builder) sequenceName(number int) string {
	if number < len(b.Names) {
		return b.Names[number]
	}
	return fmt.Sprint(number + 1)
}

// timelines draws the most telling columns of the longest sequence that is shown.
func (b *builder) timelines(s *section) {
	longest := slices.MaxFunc(b.rows.States, func(p, q Sequence) int { return len(p.States) - len(q.States) })
	columns := b.those(b.hasPlace)
	for _, j := range columns[:min(timedColumns, len(columns))] {
		t := plot.Timeline{Head: plot.Head{Title: quoted(b.r.Columns[j]) + " over time", Width: wide, Height: 260}, X: plot.Axis{Label: "row of the sequence"}, Y: b.axis(j), States: longest.States[:len(longest.rows)], Names: b.names}
		if b.rows.Sequences > 1 {
			t.Title += ", sequence " + b.sequenceName(longest.Number)
		}
		if len(longest.rows) < len(longest.States) {
			t.Note = fmt.Sprintf("The first %s of %s", text.Thousands(int64(len(longest.rows))), text.Count(len(longest.States), "row"))
		}
		for _, x := range longest.rows {
			t.Values = append(t.Values, x[j])
		}
		b.draw(s, t)
	}
}

// transitions is the table of how states follow each other.
func (b *builder) transitions() table {
	t := table{Caption: "probability of the state of the next row, how many rows a stay lasts on average, and how often a sequence begins in the state", Head: []string{"from"}}
	few := min(b.k, listed)
	for c := range few {
		t.Head = append(t.Head, fmt.Sprintf("to %d", c+1))
	}
	t.Head = append(t.Head, "mean stay", "begins")
	for a := range few {
		line := []string{fmt.Sprint(a + 1)}
		for _, p := range b.r.Transitions[a][:few] {
			line = append(line, percent(p))
		}
		t.Rows = append(t.Rows, append(line, tell.Stay(&b.r.Components[a]), percent(b.r.Initial[a])))
	}
	return t
}
