package experiment

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// small runs an experiment on few rows: the two Gaussians, a tenth of them.
func small(t *testing.T) *Report {
	t.Helper()
	e := Experiment{Name: "two-gaussians", run: gaussians("two-gaussians", []cluster{{800, 0, 0, 1}, {40, 2.5, 1, 0.2}})}
	r, err := Run(t.Context(), []Experiment{e}, Options{Runs: 2, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTablesHaveTheirColumns(t *testing.T) {
	r := small(t)
	for _, c := range []struct {
		write func(io.Writer) error
		head  string
	}{
		{r.WriteResults, "experiment,algorithm,run,seed,sweeps,seconds,log_likelihood,parameter_error,small_cluster_found,mse"},
		{r.WriteTrace, "experiment,algorithm,run,sweep,beta,log_likelihood,free_energy,parameter_error"},
	} {
		text := written(t, c.write)
		if head, _, _ := strings.Cut(text, "\n"); head != c.head {
			t.Errorf("columns are %s", head)
		}
		if _, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil {
			t.Error(err)
		}
	}
	lines, _ := csv.NewReader(strings.NewReader(written(t, r.WriteResults))).ReadAll()
	if len(lines) != 1+2*len(Algorithms) {
		t.Errorf("%d lines of results", len(lines))
	}
	for _, l := range lines[1:] {
		sweeps, _ := strconv.Atoi(l[4])
		ll, err := strconv.ParseFloat(l[6], 64)
		if l[3] != "3" || sweeps < 1 || sweeps > MaxSweeps || err != nil || math.IsInf(ll, 0) || l[8] != "true" && l[8] != "false" || l[9] != "" {
			t.Errorf("a line of results: %v", l)
		}
	}
	trace, _ := csv.NewReader(strings.NewReader(written(t, r.WriteTrace))).ReadAll()
	last := ""
	for _, l := range trace[1:] {
		if l[1] == "anti-annealing" && l[2] == "1" {
			last = l[4]
		}
		if beta, _ := strconv.ParseFloat(l[4], 64); beta == 1 && l[5] != l[6] {
			t.Errorf("at beta = 1 the free energy is the log-likelihood: %v", l)
		}
	}
	if last != "1" {
		t.Errorf("anti-annealing ends at beta = %s", last)
	}
}

func TestSameSeedGivesTheSameNumbers(t *testing.T) {
	a, b := small(t), small(t)
	if written(t, a.WriteTrace) != written(t, b.WriteTrace) {
		t.Error("traces differ")
	}
	seconds := regexp.MustCompile(`(?m)^((?:[^,]*,){5})[^,]*`)
	if strip := func(r *Report) string { return seconds.ReplaceAllString(written(t, r.WriteResults), "$1") }; strip(a) != strip(b) {
		t.Error("results differ in more than their seconds")
	}
	if a.Finding() != b.Finding() {
		t.Error("findings differ")
	}
}

func TestPageLoadsNothingAndEscapes(t *testing.T) {
	r := small(t)
	r.Data = `x"><img src=x onerror=alert(1)>`
	r.Sections[0].Data = `<script>alert(1)</script>`
	r.Sections[0].Claims[0].Here = `<b>here</b>`
	page := written(t, r.WritePage)
	if n := strings.Count(page, "<svg"); n < 4 {
		t.Errorf("%d pictures", n)
	}
	for _, bad := range []string{`(?i)(src\s*=|<link|@import)`, `(?i)url\(\s*["']?(https?:)?//`, `<script`, `<b>here`, `(?i)<[^>]*\son[a-z]+\s*=`} {
		// what stands escaped in the text is no markup
		if at := regexp.MustCompile(bad).FindStringIndex(strings.ReplaceAll(page, "img src=x onerror", "")); at != nil {
			t.Errorf("the page holds %q", page[max(at[0]-40, 0):at[1]+40])
		}
	}
	if strings.Contains(page, "<img") {
		t.Error("the page holds an image of the user's making")
	}
	for _, word := range []string{"held", "prefers-color-scheme: dark", "@media print", "<details>"} {
		if !strings.Contains(page, word) {
			t.Errorf("the page lacks %q", word)
		}
	}
}

// The verdicts follow the numbers: the same study with the ends of two algorithms exchanged says the opposite.
func TestVerdictsFollowTheNumbers(t *testing.T) {
	path := func(ll float64) []Point { return []Point{{1, 1, -1000, -1000, 9}, {2, 1, ll, ll, 1}} }
	study := func(anti, em float64) *Study {
		s := &Study{Name: "x", truth: truth(twoGaussians)}
		for i, a := range Algorithms {
			ll := -500.0 - float64(i)
			switch a {
			case "anti-annealing":
				ll = anti
			case "em":
				ll = em
			}
			s.Runs = append(s.Runs, Outcome{Algorithm: a, Number: 1, Sweeps: 2, Steps: 1, LogLik: ll, Error: -ll / 100, Found: new(ll > -490), Path: path(ll)})
		}
		return s
	}
	for _, c := range []struct {
		anti, em float64
		want     string
	}{{-400, -450, held}, {-450, -400, notHeld}, {-400, -400, tied}} {
		s := study(c.anti, c.em)
		if got := s.highest(s.summaries()[:papers]).Verdict; got != c.want {
			t.Errorf("anti-annealing at %v, em at %v: highest %s", c.anti, c.em, got)
		}
		if got := s.nearest(s.summaries()[:papers]).Verdict; got != c.want {
			t.Errorf("anti-annealing at %v, em at %v: nearest %s", c.anti, c.em, got)
		}
	}
	if s := study(-400, -500); s.finds(s.summaries()[:papers]).Verdict != held {
		t.Error("what only anti-annealing finds is not held")
	}
}

func TestArrivalIsForGood(t *testing.T) {
	s := &Study{Runs: []Outcome{{Algorithm: "em", Path: []Point{{Sweep: 1, LogLik: -100}, {Sweep: 3, LogLik: -1}, {Sweep: 4, LogLik: -50}, {Sweep: 7, LogLik: -0.5}, {Sweep: 9, LogLik: 0}}}}}
	if got := s.arrival("em", 0); got != 7 { // within 2 of 100 first after 3 sweeps, for good after 7
		t.Errorf("arrival after %d sweeps", got)
	}
}

func TestExponentOfAPowerLaw(t *testing.T) {
	x := []float64{1, 2, 5, 9}
	var y []float64
	for _, v := range x {
		y = append(y, 3*math.Pow(v, 1.7))
	}
	if got := exponent(x, y); math.Abs(got-1.7) > 1e-12 {
		t.Errorf("exponent %v", got)
	}
}

func TestNumbersInWords(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{{1234567.891, 2, "1,234,567.89"}, {-1234.5, 1, "−1,234.5"}, {-0.001, 2, "0.00"}, {999, 0, "999"}, {math.NaN(), 1, "–"}} {
		if got := fixed(c.v, c.decimals); got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
}

func TestCloudsHaveTheSizeAsked(t *testing.T) {
	a := clouds(size{100, 3, 4}, 1)
	if a.N != 100 || a.D != 4 || len(a.F64) != 400 || slices.Equal(a.F64[:4], a.F64[4:8]) {
		t.Errorf("%d x %d", a.N, a.D)
	}
}

func TestInterruptGivesNoReport(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r, err := Run(ctx, List()[:1], Options{Runs: 1, Seed: 1}); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("report %v, error %v", r, err)
	}
}

func TestNames(t *testing.T) {
	all, ok := Named("all")
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	want := []string{"two-gaussians", "four-gaussians", "digits-48", "violet", "photo", "photo-china", "complexity"}
	if !ok || !slices.Equal(names, want) {
		t.Errorf("all is %v, want %v", names, want)
	}
	one, ok := Named("violet")
	if !ok || len(one) != 1 || one[0].Name != "violet" {
		t.Errorf("violet: %v", one)
	}
	if _, ok := Named("violets"); ok {
		t.Error("violets is known")
	}
}
