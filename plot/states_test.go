package plot

import "testing"

// A strip is cut where the state changes; of more rows than parts each part has its most frequent state, and parts cover all rows in order.
func TestPartsOfAStrip(t *testing.T) {
	got := partsOf([]int{0, 0, 1, 1, 1, 0}, 10)
	want := []part{{0, 2, 0}, {2, 5, 1}, {5, 6, 0}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
	states := make([]int, 1001) // of every ten rows one is in state 2; from row 500 on the others are in state 1
	for i := range states {
		if states[i] = i / 500; i%10 == 3 {
			states[i] = 2
		}
	}
	states[1000] = 1
	got = partsOf(states, 10)
	if len(got) != 2 || got[0].state != 0 || got[1].state != 1 || got[0].from != 0 || got[0].to != got[1].from || got[0].to != 500 || got[1].to != 1001 {
		t.Errorf("%v, want two parts that meet at 500", got)
	}
	if got := partsOf(nil, 10); got != nil {
		t.Errorf("%v of nothing", got)
	}
}
