package plot

import (
	"slices"
	"strings"
	"testing"
)

// A group of several components has an ellipse pair and a numbered disc for each, in its own colour.
func TestAGroupOfSeveralComponentsHasAllOfThem(t *testing.T) {
	at := func(x float64) Normal { return Normal{Mean: [2]float64{x, 0}, Cov: [2][2]float64{{1, 0}, {0, 1}}} }
	one, two, three := at(0), at(8), at(16)
	plain := Scatter{Groups: []Group{{Name: "a", Normal: &one}, {Name: "b", Normal: &two}}}.Figure()
	more := Scatter{Groups: []Group{{Name: "a", Normal: &one, More: []Normal{three}}, {Name: "b", Normal: &two}}}.Figure()
	rings := func(f *Figure) (n int, groups []int) {
		for _, g := range f.Layers[0].(*scatterLayer).groups {
			if g.mean != nil {
				groups = append(groups, g.group)
			}
			for _, r := range g.rings {
				if r != nil {
					n++
				}
			}
		}
		return n, groups
	}
	n, groups := rings(plain)
	if n != 4 || !slices.Equal(groups, []int{0, 1}) {
		t.Errorf("%d ellipses of groups %v", n, groups)
	}
	n, groups = rings(more)
	if n != 6 || !slices.Equal(groups, []int{0, 0, 1}) || len(more.Legend) != len(plain.Legend) {
		t.Errorf("%d ellipses of groups %v, %d keys", n, groups, len(more.Legend))
	}
	svg, err := more.Inline()
	if err != nil {
		t.Fatal(err)
	}
	if ones, twos := strings.Count(svg, ">1<"), strings.Count(svg, ">2<"); ones < 2 || twos < 1 {
		t.Errorf("discs with the number 1: %d, with 2: %d", ones, twos)
	}
}
