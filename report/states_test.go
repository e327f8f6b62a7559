package report_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/report"
)

// A page of a hidden Markov model draws its sequences in the colours of their states, each row where it is in time, and tells how states follow each
// other. Rows are so far apart that nobody needs a model to know their states.
func TestAPageTellsOfStatesOverTime(t *testing.T) {
	m := new(model.Model)
	err := m.UnmarshalJSON([]byte(`{"format":"latent-model","version":1,"model":"hmm","emission":"gmm","covariance":"full","columns":["level","other"],"initial":[0.5,0.5],
		"transitions":[[0.75,0.25],[0,1]],"means":[[0,0],[50,1]],"covariances":[[[1,0],[0,1]],[[1,0],[0,1]]]}`))
	if err != nil {
		t.Fatal(err)
	}
	src := &data.Table{N: 40, D: 2}
	want := make([][]int, 35) // the states of the sequences: the first has 6 rows, all others one
	for i := range src.N {
		state, of := i%2, int32(max(0, i-5))
		if i < 6 {
			state = i / 3
		}
		src.F64, src.Sequence = append(src.F64, float64(50*state), float64(i%5)/5), append(src.Sequence, of)
		want[of] = append(want[of], state)
	}
	rows, err := report.Gather(context.Background(), m, src, 2)
	if err != nil {
		t.Fatal(err)
	}
	if rows.Sequences != 35 || len(rows.States) != 30 || rows.Odd.Draws != 0 {
		t.Fatalf("%d sequences, %d drawn, %d draws for p-values", rows.Sequences, len(rows.States), rows.Odd.Draws)
	}
	for i, q := range rows.States {
		if q.Number != i || fmt.Sprint(q.States) != fmt.Sprint(want[i]) {
			t.Errorf("sequence %d: number %d, states %v, want %v", i, q.Number, q.States, want[i])
		}
	}
	var page strings.Builder
	if err := report.Write(&page, report.Page{Result: latent.Told(m), Rows: rows, Names: []string{"the long one"}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"The states over time", "State 2 is never left", "The first 30 of 35 sequences.", "“level” over time, sequence the long one", "<td>never left</td>", "<td>4 rows</td>", "<td>25 %</td>", "given the rows of its sequence before it",
		"Who the states are", "Where the states lie", "What makes a state", "Scatter of 40 points in 2 states", "belongs to its state with a probability", "No row is in doubt: every one belongs to its state"} {
		if !strings.Contains(strings.ReplaceAll(page.String(), "\u00a0", " "), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	for _, text := range []string{"the groups", "of a group", "each group", "its group", "Group ", " groups", "points in 1 group"} {
		if strings.Contains(page.String(), text) {
			t.Errorf("the page says %q of states", text)
		}
	}
}
