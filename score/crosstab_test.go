package score

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestCrosstabCountsWeights(t *testing.T) {
	var a Agreement[string, int]
	rows := []struct {
		class  string
		group  int
		weight float64
	}{{"10", 0, 1}, {"2", 0, 2.5}, {"", 1, 1}, {"2", 0, 0.5}, {"wine", 1, 1}, {"10", 1, 4}}
	for _, r := range rows {
		if err := a.Add(r.class, r.group, r.weight); err != nil {
			t.Fatal(err)
		}
	}
	classes := []string{"wine", "", "10", "2"}
	c := NewCrosstab([]int{1, 2}, classes, func(g int, class string) float64 { return a.Count(class, g-1) })
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"groups":[1,2],"classes":["2","10","wine",""],"counts":[[3,1,0,0],[0,4,1,1]]}`; string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
	if !slices.Equal(classes, []string{"wine", "", "10", "2"}) {
		t.Errorf("the caller's classes became %q", classes)
	}
	if empty := NewCrosstab[int](nil, classes, nil); empty == nil || empty.Counts == nil {
		t.Errorf("of no groups: %v", empty)
	}
}

func TestCrosstabHasALimit(t *testing.T) {
	classes := make([]string, MostCells/2+1)
	if c := NewCrosstab([]int{1, 2}, classes, func(int, string) float64 { return 0 }); c != nil {
		t.Errorf("a table of %d cells", 2*len(classes))
	}
}

func TestNamesAreSortedByNumberThenByText(t *testing.T) {
	names := []string{"b", "", "10", "NaN", "-1.5", "2", "Inf", "a", "1e1"}
	SortNames(names)
	if want := []string{"-1.5", "2", "10", "1e1", "Inf", "NaN", "a", "b", ""}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
