package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/profile"
	"github.com/latent-go/latent/model"
)

// cut is a model of two spherical groups along x: by Bayes' rule the probability of group 2 is 1 / (1 + exp(-4 x)) for means of -2 and 2.
const cut = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"],
"weights": [0.5, 0.5], "means": [[-2], [2]], "covariances": [1, 1]}`

func second(x float64) float64 { return 1 / (1 + math.Exp(-4*x)) }

// table is rows of an x that is fitted, a number, a level, and what need not be told.
type table struct {
	x, y, w []float64
	level   []string
	text    string
}

func newTable(n int) *table {
	rng := rand.New(rand.NewPCG(71, 0))
	t := &table{}
	var b strings.Builder
	b.WriteString("id,x,y,level,w,note,nothing\n")
	for i := range n {
		x, y := 3*rng.NormFloat64(), 1e6+10*rng.NormFloat64()
		level := []string{"low", "high", "mid"}[rng.IntN(2)+i%2]
		w := float64(rng.IntN(4))
		t.x, t.y, t.w = append(t.x, x), append(t.y, y), append(t.w, w)
		cell := strconv.FormatFloat(y, 'g', -1, 64)
		if rng.IntN(5) == 0 {
			t.y[i], cell = math.NaN(), "NA"
		}
		if rng.IntN(6) == 0 {
			level = ""
		}
		t.level = append(t.level, level)
		fmt.Fprintf(&b, "%d,%v,%s,%s,%v,words %d of it,\n", i+1, x, cell, level, w, rng.IntN(1<<30))
	}
	t.text = b.String()
	return t
}

// profiled makes the profile of text.
func profiled(t testing.TB, text string, o data.Options, threads int, by profile.Options) *profile.Profile {
	t.Helper()
	return profiledBy(t, cut, text, o, threads, by)
}

// profiledBy is profiled by the model of a file.
func profiledBy(t testing.TB, modelFile, text string, o data.Options, threads int, by profile.Options) *profile.Profile {
	t.Helper()
	folder := t.TempDir()
	path, fitted := filepath.Join(folder, "t.csv"), filepath.Join(folder, "m.json")
	for name, text := range map[string]string{path: text, fitted: modelFile} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, err := model.Load(fitted)
	if err != nil {
		t.Fatal(err)
	}
	o.Exact, o.Dates, o.Carry, o.Stream, o.Missing = m.Columns, m.Dates(), true, true, "model"
	src, info, err := data.Load(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	b := profile.New(m, info, by)
	if err := m.Rows(context.Background(), src, threads, b.Add); err != nil {
		t.Fatal(err)
	}
	return b.Done()
}

func columnOf(t *testing.T, p *profile.Profile, name string) profile.Column {
	t.Helper()
	i := slices.IndexFunc(p.Columns, func(c profile.Column) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no column %s", name)
	}
	return p.Columns[i]
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || !(math.Abs(*got-want) <= 1e-9*(1+math.Abs(want))) {
		if got == nil {
			t.Errorf("%s: nil, want %v", what, want)
		} else {
			t.Errorf("%s: %v, want %v", what, *got, want)
		}
	}
}

// Rows of the noise are among all rows and in no group: the middle of the group has the density 0.8 / sqrt(2 pi), and 0.2 / 10 that of the noise.
func TestRowsOfTheNoise(t *testing.T) {
	const modelFile = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"],
		"weights": [0.8], "means": [[0]], "covariances": [1], "noise": {"weight": 0.2, "log_volume": 2.302585092994046, "center": [0], "axes": [[1]], "low": [-5], "high": [5]}}`
	mid := 0.02 / (0.02 + 0.8/math.Sqrt(2*math.Pi))
	for hard, want := range map[bool]float64{false: 2*mid + 3, true: 3} { // the last row counts three times
		p := profiledBy(t, modelFile, "x,w\n0,1\n0,1\n60,3\n", data.Options{Weight: "w"}, 1, profile.Options{ByLabel: hard})
		if p.Noise == nil || p.Noise.Weight != 0.2 || p.Rows != 3 {
			t.Fatalf("%+v", p)
		}
		near(t, "rows of the noise", &p.Noise.Rows, want)
		near(t, "rows of the group", &p.Groups[0].Rows, 5-want)
		near(t, "mean of all rows", columnOf(t, p, "x").All.Mean, 36)
	}
	if p := profiled(t, "x\n1\n", data.Options{}, 1, profile.Options{}); p.Noise != nil {
		t.Errorf("%+v", p.Noise)
	}
}

// Everything against a loop over the rows, by responsibility and by label, with row weights and without.
func TestProfileIsThatOfALoop(t *testing.T) {
	tab := newTable(5000)
	for _, hard := range []bool{false, true} {
		for _, weight := range []string{"", "w"} {
			t.Run(fmt.Sprintf("hard=%v,weight=%q", hard, weight), func(t *testing.T) {
				p := profiled(t, tab.text, data.Options{Weight: weight}, 2, profile.Options{ByLabel: hard})
				loop(t, tab, p, hard, weight != "")
			})
		}
	}
}

func loop(t *testing.T, tab *table, p *profile.Profile, hard, weighted bool) {
	share := func(i, g int) float64 {
		r := []float64{1 - second(tab.x[i]), second(tab.x[i]), 1}[g]
		if hard {
			r = math.Round(r)
		}
		if weighted {
			r *= tab.w[i]
		}
		return r
	}
	y := columnOf(t, p, "y")
	var means, sums [3]float64
	var total float64
	for g := range 3 {
		var w, s, q float64
		for i, v := range tab.y {
			if v == v {
				w, s = w+share(i, g), s+share(i, g)*(v-1e6)
			}
		}
		for i, v := range tab.y {
			if v == v {
				q += share(i, g) * (v - 1e6 - s/w) * (v - 1e6 - s/w)
			}
		}
		means[g], sums[g] = 1e6+s/w, w
		cell := append(y.Groups, y.All)[g]
		near(t, "mean", cell.Mean, means[g])
		near(t, "sd", cell.SD, math.Sqrt(q/w))
		if g == 2 {
			total = q
		}
	}
	between := 0.0
	for g := range 2 {
		between += sums[g] * (means[g] - means[2]) * (means[g] - means[2]) / total
	}
	near(t, "between", y.Between, between)
	levels := columnOf(t, p, "level")
	joint, missing := map[string][3]float64{}, int64(0)
	for i, l := range tab.level {
		if l == "" {
			if share(i, 2) > 0 {
				missing++
			}
			continue
		}
		of := joint[l]
		for g := range 3 {
			of[g] += share(i, g)
		}
		joint[l] = of
	}
	var groups [3]float64
	for _, of := range joint {
		for g := range 3 {
			groups[g] += of[g]
		}
	}
	entropy, mutual := 0.0, 0.0
	for l, of := range joint {
		q := of[2] / groups[2]
		entropy -= q * math.Log(q)
		for g := range 3 {
			for _, got := range append(levels.Groups, levels.All)[g].Levels {
				if got.Name == l {
					near(t, "share of "+l, &got.Share, of[g]/groups[g])
				}
			}
			if g < 2 && of[g] > 0 {
				mutual += of[g] / groups[2] * math.Log(of[g]*groups[2]/(of[2]*groups[g]))
			}
		}
	}
	near(t, "share of entropy", levels.Between, mutual/entropy)
	if levels.Missing != missing || levels.Distinct != 3 || len(levels.All.Levels) != 3 {
		t.Errorf("%d missing, %d different levels; want %d and 3", levels.Missing, levels.Distinct, missing)
	}
	rows := 0.0
	for i := range tab.x {
		rows += share(i, 1)
	}
	near(t, "rows", &p.Groups[1].Rows, rows)
}

// What the columns are taken for, and in which order they come.
func TestKindsAndOrder(t *testing.T) {
	p := profiled(t, newTable(400).text, data.Options{}, 1, profile.Options{})
	for name, want := range map[string]string{"x": "number", "y": "number", "level": "category", "w": "category", "id": "id", "note": "text", "nothing": "empty"} {
		if got := columnOf(t, p, name).Kind; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	last := math.Inf(1)
	for i, c := range p.Columns {
		switch {
		case c.Fitted != (c.Name == "x"):
			t.Errorf("%s: fitted %v", c.Name, c.Fitted)
		case i == 0 && c.Name != "x":
			t.Errorf("the first column is %s", c.Name)
		case c.Between == nil:
			last = -1
		case *c.Between > last:
			t.Errorf("%s stands behind a column that tells less", c.Name)
		default:
			last = *c.Between
		}
	}
}

// The bits do not depend on the number of threads.
func TestThreads(t *testing.T) {
	text := newTable(30_000).text
	var want []byte
	for _, threads := range []int{1, 2, 5} {
		p := profiled(t, text, data.Options{}, threads, profile.Options{Quartiles: true})
		p.Data = "" // in a folder of its own
		got, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if string(got) != string(want) {
			t.Errorf("%d threads give another profile", threads)
		}
	}
}

// Quartiles by hand: of 1 to 8 in one group, and of weights 1, 2 and 1.
func TestQuartiles(t *testing.T) {
	p := profiled(t, "x,v\n9,1\n9,2\n9,3\n9,4\n9,5\n9,6\n9,7\n9,8\n", data.Options{}, 1, profile.Options{Quartiles: true})
	if got := *columnOf(t, p, "v").All.Quartiles; got != [3]float64{2.5, 4.5, 6.5} {
		t.Errorf("quartiles of 1 to 8: %v", got)
	}
	p = profiled(t, "x,v,w\n9,1,1\n9,2,2\n9,30,1\n", data.Options{Weight: "w"}, 1, profile.Options{Quartiles: true})
	if got := *columnOf(t, p, "v").All.Quartiles; got != [3]float64{1.5, 2, 16} {
		t.Errorf("quartiles of 1, 2, 2, 30: %v", got)
	}
}

// Places are told by the direction of their mean: two rows on either side of the date line lie on it, and those at 10 and 30 degrees north
// at 20, where the mean of the points is cos 10 as far from the centre of the globe.
func TestPlaces(t *testing.T) {
	const modelFile = `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["lat", "lon"], "centers": [[-1, 0, 0], [1, 0, 0]],
		"transform": [{"kind": "geo", "columns": ["lat", "lon"]}]}`
	p := profiledBy(t, modelFile, "lon,lat\n179,0\n-179,0\n,\n0,10\n0,30\n", data.Options{}, 2, profile.Options{})
	lat, lon := columnOf(t, p, "lat"), columnOf(t, p, "lon")
	near(t, "latitude of the first", lat.Groups[0].Mean, 0)
	if v := math.Abs(*lon.Groups[0].Mean); math.Abs(v-180) > 1e-9 {
		t.Errorf("longitude of the first: %v", v)
	}
	near(t, "latitude of the second", lat.Groups[1].Mean, 20)
	near(t, "longitude of the second", lon.Groups[1].Mean, 0)
	sin := func(degrees float64) float64 { return math.Sin(degrees * math.Pi / 180) }
	x, z := -sin(89)-sin(80)*sin(70), sin(80)*sin(20) // from the mean of the second to that of the first
	between, within := x*x+z*z, 2*sin(1)*sin(1)+2*sin(10)*sin(10)
	near(t, "between", lat.Between, between/(between+within))
	near(t, "between", lon.Between, between/(between+within))
	if lat.All.SD != nil || !lat.Place || lat.Missing != 1 {
		t.Errorf("%+v", lat)
	}
}

// Numbers with a decimal comma and points between thousands are read as the fit reads them.
func TestDecimalComma(t *testing.T) {
	p := profiled(t, "x;v\n0,5;1.000,5\n-0,5;2.000,5\n1,5;\n", data.Options{}, 1, profile.Options{})
	v := columnOf(t, p, "v")
	near(t, "mean", v.All.Mean, 1500.5)
	if v.Missing != 1 || v.Kind != "number" {
		t.Errorf("%d missing, kind %s", v.Missing, v.Kind)
	}
}

// What a model tells of its columns: the mean of all is the weighted mean, the variance of all that within the groups and that between them, and
// a bit that is 1 in one group only is told by the group.
func TestTold(t *testing.T) {
	m := &model.Model{Kind: "mixed", Columns: []string{"x", "b", "n"}, Types: []data.Type{data.Number, data.Category, data.Count}, Levels: [][]string{nil, {"no", "yes"}, nil},
		Weights: []float64{0.25, 0.75}, Means: [][]float64{{0}, {4}}, Covariance: [][]float64{{1}, {9}}, Probabilities: [][]float64{{1, 0}, {0, 1}}, Rates: [][]float64{{2}, {6}}}
	p := profile.Told(m, m.Weights, nil)
	x, b, n := columnOf(t, p, "x"), columnOf(t, p, "b"), columnOf(t, p, "n")
	near(t, "mean", x.All.Mean, 3)
	near(t, "sd", x.All.SD, math.Sqrt(0.25*(1+9)+0.75*(9+1)))
	near(t, "between", x.Between, 3/10.)
	near(t, "sd of a group", x.Groups[1].SD, 3)
	near(t, "a bit that the groups tell", b.Between, 1)
	near(t, "mean of counts", n.All.Mean, 5)
	near(t, "between counts", n.Between, (0.25*9+0.75*1)/(0.25*(2+9)+0.75*(6+1)))
	if p.Columns[0].Name != "b" || b.All.Levels[0] != (profile.Level{Name: "yes", Share: 0.75}) {
		t.Errorf("first %s, levels %v", p.Columns[0].Name, b.All.Levels)
	}
}

// Columns that a model of a file without a header meets by position are fitted ones too.
func TestColumnsMetByPosition(t *testing.T) {
	const head = `{"format": "latent-model", "version": 1, "model": "kmeans", "centers": [[1, 0, 0], [-1, 0, 0]], "transform": [{"kind": "geo", "columns": ["1", "2"]}], "columns": ["1", "2"]}`
	p := profiledBy(t, head, "north,east\n0,0\n0,2\n0,179\n0,-179\n", data.Options{}, 1, profile.Options{})
	north, east := columnOf(t, p, "north"), columnOf(t, p, "east")
	if !north.Fitted || !east.Fitted || !east.Place {
		t.Errorf("%+v", east)
	}
	near(t, "east of the first", east.Groups[0].Mean, 1)
	const dates = `{"format": "latent-model", "version": 1, "model": "kmeans", "centers": [[0], [100]], "transform": [{"kind": "date", "columns": ["1"], "origin": "1970-01-01"}], "columns": ["1"]}`
	p = profiledBy(t, dates, "when\n1970-01-01\n1970-01-03\n1970-04-11\n", data.Options{}, 1, profile.Options{})
	if c := p.Columns[0]; !c.Fitted || !c.Date {
		t.Fatalf("%+v", c)
	}
	near(t, "the first days", p.Columns[0].Groups[0].Mean, 1)
}
