package report

import (
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

func TestAnOddCellIsToldWithTheGroupThatExpectsOther(t *testing.T) {
	for want, row := range map[string]Row{
		"“tenure” is 35; its group expects 18.60":                                  {Label: 0, Odd: &model.Odd{Name: "tenure", Value: "35", Group: 1, Expected: "18.60"}},
		"“tenure” is 35; group 2, which the other columns point to, expects 18.60": {Label: 0, Odd: &model.Odd{Name: "tenure", Value: "35", Group: 2, Expected: "18.60"}},
		"“age” is Child; its group expects Adult (Child: 2.3 %)":                   {Label: 1, Odd: &model.Odd{Name: "age", Value: "Child", Group: 2, Expected: "Adult; Child in 2.3 %"}},
		"“age” is Adult; its group expects Adult in 97 %":                          {Label: 1, Odd: &model.Odd{Name: "age", Value: "Adult", Group: 2, Expected: "Adult in 97 %"}},
		"“seat” is a; b; its group expects b; in (a; b: 4.0 %)":                    {Label: 0, Odd: &model.Odd{Name: "seat", Value: "a; b", Group: 1, Expected: "b; in; a; b in 4.0 %"}},
		"": {},
	} {
		if got := oddWord(row); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The page says first whether rows are odd, and holds their number against what chance makes of so many.
func TestOddRowsAreCountedAgainstChance(t *testing.T) {
	for want, odd := range map[string]Odd{
		"No row is odd: none of 150 rows has a p-value below 0.001; by chance it would be about 0.15.":                           {Rows: 150},
		"1 of 344 rows is odd: its p-value is below 0.001. By chance it would be about 0.34.":                                    {Rows: 344, Found: 1},
		"12 of 10,000 rows are odd: their p-value is below 0.001. By chance it would be about 10.":                               {Rows: 10000, Found: 12},
		"9 of 900 rows are odd: their p-value is below 0.001. By chance it would be about 0.9.":                                  {Rows: 900, Found: 9}, // few may be errors
		"10 of 1,000 rows are odd: their p-value is below 0.001. By chance it would be about 1. So many are less likely to be e": {Rows: 1000, Found: 10},
	} {
		odd.Draws = 100000
		b := &builder{rows: &Rows{Odd: odd, Unusual: []Row{{Number: 3, PValue: 0.0002}}}, telling: []int{}, Page: Page{}}
		var s section
		table := b.improbable(&s)
		if got := s.Lead[0]; got != want && !strings.HasPrefix(got, want+"rrors") {
			t.Errorf("%q, want %q", got, want)
		}
		if len(table.Rows) != 1 || table.Rows[0][0] != "3" || table.Rows[0][1] != "1" {
			t.Errorf("rows %q", table.Rows)
		}
	}
}

// Twenty rows around (0, 0) and (100, 0): all at a distance of 1 but for two of the second group at 5.
func TestRowsFarFromTheirCentresAreToldBesideTheMean(t *testing.T) {
	src := &data.Table{N: 20, D: 2}
	for i := range 20 {
		y := float64(1 - 2*(i%2))
		if i >= 18 {
			y *= 5
		}
		src.F64 = append(src.F64, float64(i/10*100), y)
	}
	page := pageOf(t, src, latent.Spec{K: 2, Model: "kmeans", Columns: []string{"x", "y"}})
	// Two of 20 rows are 5 away: the share of rows as far is 0.1. The mean of their group is (8 + 2 * 5) / 10.
	for _, want := range []string{
		"A model without density cannot say how many rows are odd.", "so about 0.02 of 20 rows would be below 0.001 in any table.",
		"<th scope=\"col\">distance (mean of its group)</th>",
		"<td>19</td><td>2</td><td>5.000 (1.800)</td><td>0.1</td><td>“y” is 5; its group expects 0</td>",
		"<td>20</td><td>2</td><td>5.000 (1.800)</td><td>0.1</td><td>“y” is -5; its group expects 0</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestAnOddRowDoesNotReadAsTheBound(t *testing.T) {
	for p, want := range map[float64]string{0.00094: "0.00094", 0.00099: "0.00099", 0.0012: "0.0012", 0.0009999: "0.00100", 0.001: "0.001", 0.25: "0.25"} {
		if got := pValue(p); got != want {
			t.Errorf("%v reads %s, want %s", p, got, want)
		}
	}
}
