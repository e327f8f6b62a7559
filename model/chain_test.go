package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

// weather is a hidden Markov model as docs/model-file.md has it, on a scaled column and one on another scale.
const weather = `{"format": "latent-model", "version": 1, "model": "hmm", "emission": "gmm", "covariance": "diag", "columns": ["x", "price"],
 "sequence": "run", "time": "t", "initial": [0.5, 0.3, 0.2], "transitions": [[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0, 0.4, 0.6]],
 "transform": [{"kind": "log", "columns": ["price"]}, {"kind": "standard", "center": [1, 0], "scale": [2, 1]}],
 "means": [[0, 0], [1, 1], [-1, 2]], "covariances": [[1, 0.5], [0.25, 1], [2, 2]]}`

// weatherDensity is the density of a row in state c of it, in the user's units: normal in (x - 1)/2 and in the logarithm of the price. A missing
// cell counts for nothing.
func weatherDensity(c int, x, price float64) float64 {
	mean, variance := [][]float64{{0, 0}, {1, 1}, {-1, 2}}[c], [][]float64{{1, 0.5}, {0.25, 1}, {2, 2}}[c]
	normal := func(z, m, v float64) float64 { return math.Exp(-(z-m)*(z-m)/(2*v)) / math.Sqrt(2*math.Pi*v) }
	p := 1.0
	if x == x {
		p *= normal((x-1)/2, mean[0], variance[0]) / 2
	}
	if price == price {
		p *= normal(math.Log(price), mean[1], variance[1]) / price
	}
	return p
}

// everyPath sums over all paths of states: the probability of the rows, of each state of each row given all of them, and the likeliest path.
func everyPath(m *Model, rows [][]float64) (total float64, states [][]float64, best []int32) {
	k, n, top := m.K(), len(rows), -1.0
	states = make([][]float64, n)
	for t := range states {
		states[t] = make([]float64, k)
	}
	path := make([]int, n)
	for {
		p := m.Initial[path[0]]
		for t, c := range path {
			if t > 0 {
				p *= m.Transitions[path[t-1]][c]
			}
			p *= weatherDensity(c, rows[t][0], rows[t][1])
		}
		total += p
		for t, c := range path {
			states[t][c] += p
		}
		if p > top {
			top, best = p, nil
			for _, c := range path {
				best = append(best, int32(c))
			}
		}
		t := n - 1
		for ; t >= 0 && path[t] == k-1; t-- {
			path[t] = 0
		}
		if t < 0 {
			break
		}
		path[t]++
	}
	for t := range states {
		for c := range states[t] {
			states[t][c] /= total
		}
	}
	return total, states, best
}

// weatherRows are rows of the model above, some with gaps and one without any cell.
func weatherRows() [][]float64 {
	gap := math.NaN()
	return [][]float64{{0.5, 1.2}, {3, 2.5}, {gap, 9}, {gap, gap}, {-2, 0.3}, {4, 3}, {-8, gap}, {0, 1}, {gap, gap}, {2, 50}}
}

// Decoding a sequence says what the sum over all of its paths says, whatever scales the columns are on and whatever cells are missing.
func TestDecodingIsTheSumOverAllPaths(t *testing.T) {
	m := parsed(t, []byte(weather))
	rows, lengths := weatherRows(), []int{6, 1, 3}
	src := sequencesOf(rows, 2, lengths)
	path, smooth, filter := decode(t, m, src, Viterbi, 1), decode(t, m, src, Smooth, 2), decode(t, m, src, Filter, 3)
	first := 0
	for s, n := range lengths {
		total, states, best := everyPath(m, rows[first:first+n])
		if want := math.Log(total); !close(smooth.sums[s], want, 1e-12, 0) || !close(filter.sums[s], want, 1e-12, 0) {
			t.Errorf("sequence %d: log-likelihood %v, want %v", s, smooth.sums[s], want)
		}
		before := 0.0
		for i := range n {
			at := first + i
			if path.labels[at] != best[i] {
				t.Errorf("row %d: state %d on the path, want %d", at, path.labels[at], best[i])
			}
			past, filtered, _ := everyPath(m, rows[first:at+1])
			if want := math.Log(past) - before; !close(smooth.densities[at], want, 1e-9, 1e-12) {
				t.Errorf("row %d: log density %v, want %v", at, smooth.densities[at], want)
			}
			before = math.Log(past)
			for c := range m.K() {
				if !close(smooth.p[at][c], states[i][c], 1e-10, 1e-15) || !close(filter.p[at][c], filtered[i][c], 1e-10, 1e-15) {
					t.Errorf("row %d: smoothed %v, filtered %v; want %v, %v", at, smooth.p[at], filter.p[at], states[i], filtered[i])
				}
			}
			for name, d := range map[string]decoded{"smooth": smooth, "filter": filter} {
				if d.p[at][d.labels[at]] != slices.Max(d.p[at]) {
					t.Errorf("%s, row %d: label %d of %v", name, at, d.labels[at], d.p[at])
				}
			}
		}
		first += n
	}
}

// longSequences are sequences of all lengths, beyond what a pass takes at a time.
func longSequences(m *Model, lengths []int) *data.Table {
	s, err := m.Sampler(5)
	if err != nil {
		panic(err)
	}
	t := &data.Table{D: m.D()}
	for of, n := range lengths {
		s.Restart()
		for range n {
			x := make([]float64, m.D())
			s.Draw(x)
			t.F64, t.Sequence, t.N = append(t.F64, x...), append(t.Sequence, int32(of)), t.N+1
		}
	}
	return t
}

// Smoothed and filtered probabilities are equal in the last row of a sequence; both ways give a row the same log density; threads change no bit.
func TestLawsOfDecoding(t *testing.T) {
	m := parsed(t, []byte(weather))
	src := longSequences(m, []int{3000, 1, 1, 2047, 2049, 5, 4100})
	smooth, filter := decode(t, m, src, Smooth, 1), decode(t, m, src, Filter, 2)
	for i := range smooth.p {
		if !close(smooth.densities[i], filter.densities[i], 1e-10, 1e-12) {
			t.Fatalf("row %d: log densities %v and %v", i, smooth.densities[i], filter.densities[i])
		}
		if i+1 < src.N && src.Sequence[i+1] == src.Sequence[i] {
			continue
		}
		for c, p := range smooth.p[i] {
			if !close(p, filter.p[i][c], 1e-9, 1e-15) {
				t.Errorf("the end of sequence %d: smoothed %v, filtered %v", src.Sequence[i], smooth.p[i], filter.p[i])
			}
		}
	}
	for _, how := range Decodings() {
		one := decode(t, m, src, how, 1)
		for threads := 2; threads < 5; threads++ {
			if other := decode(t, m, src, how, threads); fmt.Sprint(other) != fmt.Sprint(one) {
				t.Errorf("%s: %d threads change what is said", how, threads)
			}
		}
	}
}

// A sequence decoded in blocks of rows says what it says as a whole, and stands in its place among shorter ones.
func TestLongSequencesInBlocks(t *testing.T) {
	m := parsed(t, []byte(weather))
	src := longSequences(m, []int{20, 900, 3, 41, 2000, 5})
	for _, how := range []Decoding{Viterbi, Smooth} {
		want, at := decode(t, m, src, how, 2), 0
		d := m.decoder(how, 2, func(s *Scored) error {
			for i := range s.N {
				if s.First+int64(i) != int64(at) || s.Label[i] != want.labels[at] || !close(s.LogDensity[i], want.densities[at], 1e-9, 1e-9) || s.Sequence[i] != src.Sequence[at] {
					t.Fatalf("%s, row %d: number %d, label %d, log density %v; want %d, %v", how, at, s.Number(i), s.Label[i], s.LogDensity[i], want.labels[at], want.densities[at])
				}
				for c, p := range want.p[at] {
					if !close(s.Responsibilities[i*s.K+c], p, 1e-9, 1e-14) {
						t.Fatalf("%s, row %d: probabilities %v, want %v", how, at, s.Responsibilities[i*s.K:(i+1)*s.K], want.p[at])
					}
				}
				at++
			}
			return nil
		})
		for _, source := range []data.Source{src, struct{ data.Source }{src}} { // in memory, and a stream
			at, d.next = 0, 0
			if err := d.pieces(context.Background(), source, 40, 64); err != nil || at != src.N {
				t.Errorf("%s: %d rows, %v", how, at, err)
			}
		}
	}
}

// Sequences of one row are rows of a mixture whose weights are the initial probabilities.
func TestSequencesOfOneRowAreTheMixture(t *testing.T) {
	m := parsed(t, []byte(weather))
	src := longSequences(m, slices.Repeat([]int{1}, 500))
	mix := m.states()
	mix.Weights = m.Initial
	want, err := mix.LogDensity(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	labels, _ := mix.Predict(context.Background(), src)
	for _, how := range Decodings() {
		got := decode(t, m, src, how, 2)
		for i, v := range want {
			if !close(got.densities[i], v, 1e-12, 1e-12) || got.labels[i] != labels[i] {
				t.Fatalf("%s, row %d: %v, label %d; the mixture says %v, %d", how, i, got.densities[i], got.labels[i], v, labels[i])
			}
		}
	}
}

// What is said of a row does not hang on where its sequence stands in the file, and DecodeByRow says it in the file's order.
func TestSequencesMayLieAmongEachOther(t *testing.T) {
	m := parsed(t, []byte(weather))
	lengths := []int{700, 3, 1500, 40, 2100}
	src := longSequences(m, lengths)
	want := decode(t, m, src, Viterbi, 1)
	moved := &data.Table{N: src.N, D: src.D}
	var from []int // where row i of moved is in src
	for _, s := range []int32{3, 0, 4, 2, 1} {
		for i, of := range src.Sequence {
			if of == s {
				moved.F64, moved.Row = append(moved.F64, src.F64[i*src.D:(i+1)*src.D]...), append(moved.Row, int64(i)+1)
				moved.ID, moved.Sequence = append(moved.ID, fmt.Sprint(i)), append(moved.Sequence, int32(slices.Index([]int32{3, 0, 4, 2, 1}, s)))
				from = append(from, i)
			}
		}
	}
	got := decode(t, m, moved, Viterbi, 2)
	for i, at := range from {
		if got.labels[i] != want.labels[at] || !close(got.densities[i], want.densities[at], 1e-12, 1e-12) {
			t.Fatalf("row %d: label %d, log density %v; want %d, %v", at, got.labels[i], got.densities[i], want.labels[at], want.densities[at])
		}
	}
	next := 0
	err := m.DecodeByRow(context.Background(), moved, Viterbi, 2, func(s *Scored) error {
		for i := range s.N {
			if s.Number(i) != int64(next)+1 || s.ID[i] != fmt.Sprint(next) || s.Label[i] != want.labels[next] || !close(s.LogDensity[i], want.densities[next], 1e-12, 1e-12) || s.Sequence[i] != int32([]int{1, 4, 3, 0, 2}[src.Sequence[next]]) {
				t.Fatalf("row %d: number %d, id %s, label %d", next, s.Number(i), s.ID[i], s.Label[i])
			}
			if cell := s.At(i, 0); !close(cell, (src.F64[next*2]-1)/2, 1e-12, 1e-12) {
				t.Fatalf("row %d: cell %v", next, cell)
			}
			next++
		}
		return nil
	})
	if err != nil || next != src.N {
		t.Errorf("%d rows, %v", next, err)
	}
}

// Draws follow the chain: how often states follow each other, and where sequences begin.
func TestSamplesFollowTheChain(t *testing.T) {
	m := parsed(t, []byte(weather))
	s, err := m.Sampler(1)
	if err != nil {
		t.Fatal(err)
	}
	const sequences, rows = 4000, 20
	begins, moves, x := make([]float64, 3), make([][]float64, 3), make([]float64, 2)
	for a := range moves {
		moves[a] = make([]float64, 3)
	}
	for range sequences {
		s.Restart()
		before := s.Draw(x)
		begins[before]++
		for range rows - 1 {
			now := s.Draw(x)
			moves[before][now]++
			before = now
		}
	}
	for a, row := range moves {
		if math.Abs(begins[a]/sequences-m.Initial[a]) > 4*math.Sqrt(0.25/sequences) {
			t.Errorf("%v begin in state %d", begins[a]/sequences, a)
		}
		n := row[0] + row[1] + row[2]
		for b, v := range row {
			if p := m.Transitions[a][b]; math.Abs(v/n-p) > 4.5*math.Sqrt(p*(1-p)/n) {
				t.Errorf("from %d to %d: %v of %v, want %v", a, b, v/n, n, p)
			}
		}
	}
	if table, labels, err := m.Sample(50, 2); err != nil || table.N != 50 || len(labels) != 50 {
		t.Errorf("%v", err)
	}
}

// The long run of a chain is where its powers lead: here the stationary distribution, worked out by hand; of one that is absorbed the state that
// holds it, and of two that never meet what each began with.
func TestLongRun(t *testing.T) {
	for want, m := range map[[2]float64]*Model{
		{0.25, 0.75}: {Initial: []float64{1, 0}, Transitions: [][]float64{{0.7, 0.3}, {0.1, 0.9}}},
		{0, 1}:       {Initial: []float64{1, 0}, Transitions: [][]float64{{0.999, 0.001}, {0, 1}}},
		{0.3, 0.7}:   {Initial: []float64{0.3, 0.7}, Transitions: [][]float64{{1, 0}, {0, 1}}},
		{0.5, 0.5}:   {Initial: []float64{1, 0}, Transitions: [][]float64{{0, 1}, {1, 0}}},
	} {
		m.Kind = ChainKind
		if got := m.LongRun(); !close(got[0], want[0], 1e-9, 1e-12) || !close(got[1], want[1], 1e-9, 1e-12) {
			t.Errorf("%v: %v, want %v", m.Transitions, got, want)
		}
	}
	if got := new(Model).LongRun(); got != nil {
		t.Errorf("a model that is no chain: %v", got)
	}
	m := parsed(t, []byte(weather))
	var last []float64
	err := m.Forecast(context.Background(), sequencesOf(weatherRows(), 2, []int{10}), 500, 1, func(f *Forecast) error {
		last = append(last[:0], f.States...)
		return nil
	})
	for c, p := range m.LongRun() {
		if err != nil || !close(last[c], p, 1e-9, 0) || !close(m.Weights[c], p, 1e-12, 0) {
			t.Errorf("far ahead %v, in the long run %v, %v", last, m.LongRun(), err)
		}
	}
}

// A model is the same when it is written and read again, and in another order of its states.
func TestAChainIsWrittenAsItIsRead(t *testing.T) {
	m := parsed(t, []byte(weather))
	if m.Sequence != "run" || m.Time != "t" || m.K() != 3 || m.ComponentKind() != "gmm" || !m.IsChain() {
		t.Errorf("read %+v", m)
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	again, twice := parsed(t, file.Bytes()), new(bytes.Buffer)
	again.WriteTo(twice)
	if twice.String() != file.String() {
		t.Errorf("written %s\nand again %s", file.String(), twice.String())
	}
	if stay := m.Component(0).Stay; stay == nil || !close(*stay, 5, 1e-12, 0) {
		t.Errorf("a stay of %v rows, want 1/(1 - 0.8)", stay)
	}
	src := sequencesOf(weatherRows(), 2, []int{10})
	order := []int{2, 0, 1}
	want, got := decode(t, m, src, Viterbi, 1), decode(t, m.Reordered(order), src, Viterbi, 1)
	for i := range want.labels {
		if order[got.labels[i]] != int(want.labels[i]) || !close(got.densities[i], want.densities[i], 1e-12, 1e-12) {
			t.Errorf("row %d: state %d in another order, want %d", i, got.labels[i], want.labels[i])
		}
	}
	arranged, err := m.Arranged([]string{"price", "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var turned [][]float64
	for _, row := range weatherRows() {
		turned = append(turned, []float64{row[1], row[0]})
	}
	if other := decode(t, arranged, sequencesOf(turned, 2, []int{10}), Viterbi, 1); !slices.Equal(other.labels, want.labels) || !close(other.sums[0], want.sums[0], 1e-12, 0) {
		t.Errorf("columns in another order: %v, want %v", other, want)
	}
}

// What a file of a chain may not say.
func TestChainsThatAreNone(t *testing.T) {
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(weather) }
	for want, file := range map[string]string{
		`emission: this key is missing`:                                                            edit(`"emission": "gmm",`, ``),
		`emission: "hmn" is not known`:                                                             edit(`"emission": "gmm"`, `"emission": "hmn"`),
		`emission: it is the kind of the states' densities`:                                        edit(`"emission": "gmm"`, `"emission": "hmm"`),
		`emission: a kmeans model has no density`:                                                  edit(`"emission": "gmm", "covariance": "diag"`, `"emission": "kmeans"`, `"means"`, `"centers"`, `, "covariances": [[1, 0.5], [0.25, 1], [2, 2]]`, ``),
		`initial: this key is missing`:                                                             edit(`"initial": [0.5, 0.3, 0.2],`, ``),
		`initial: they sum to 0.8, not to 1`:                                                       edit(`[0.5, 0.3, 0.2]`, `[0.5, 0.1, 0.2]`),
		`initial: number 2 is -0.3; probabilities must not be`:                                     edit(`[0.5, 0.3, 0.2]`, `[0.5, -0.3, 0.8]`),
		`transitions: there are 2 rows for 3 states`:                                               edit(`, [0, 0.4, 0.6]`, ``),
		`transitions: row 3 has 2 numbers for 3 states`:                                            edit(`[0, 0.4, 0.6]`, `[0.4, 0.6]`),
		`transitions: row 1: they sum to 1.05`:                                                     edit(`[0.8, 0.15, 0.05]`, `[0.8, 0.2, 0.05]`),
		`transitions: a number is missing (null)`:                                                  edit(`[0.8, 0.15, 0.05]`, `[0.8, null, 0.05]`),
		`weights: there are 3 for 2 means`:                                                         edit(`[0, 0], [1, 1], [-1, 2]`, `[0, 0], [1, 1]`),
		`sequence: column "x" is one of the columns of the model`:                                  edit(`"run"`, `"x"`),
		`time: column "run" cannot tell sequences apart and be`:                                    edit(`"t"`, `"run"`),
		`time: it is empty`:                                                                        edit(`"t"`, `""`),
		`clusters, posterior and sums: a hidden Markov model can have none`:                        edit(`"means"`, `"clusters": [1, 1, 2], "means"`),
		`posterior: this key is not known in a hidden Markov model with gmm emissions (version 1)`: edit(`"means"`, `"posterior": {}, "means"`),
		`noise: this key is not known in a hidden Markov model with gmm emissions (version 1)`:     edit(`"means"`, `"noise": {}, "means"`),
		`initial: this key is not known in a gmm model (version 1)`:                                `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x"], "weights": [1], "means": [[0]], "covariances": [[[1]]], "initial": [1]}`,
		`emission: this key is not known in a gmm model (version 1)`:                               `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x"], "weights": [1], "means": [[0]], "covariances": [[[1]]], "emission": "gmm"}`,
	} {
		err := new(Model).UnmarshalJSON([]byte(file))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	m := parsed(t, []byte(weather))
	m.Transitions = m.Transitions[:2]
	if err := m.Validate(); err == nil || !strings.Contains(err.Error(), "the model cannot be used: transitions") {
		t.Errorf("a model with a row too few: %v", err)
	}
}

// What a chain cannot do is refused, and what it alone can do is refused by other models.
func TestChainsRefuseWhatIsForSingleRows(t *testing.T) {
	m, mix, src, ctx := parsed(t, []byte(weather)), parsed(t, []byte(weather)).states(), sequencesOf(weatherRows(), 2, []int{10}), context.Background()
	told := func(s *Scored) error { return nil }
	_, scorer := m.Scorer()
	_, tail := m.Tail(10, 1, 1)
	_, filler := m.Filler()
	for want, err := range map[string]error{
		"a hidden Markov model scores no single rows":       scorer,
		"a hidden Markov model has no p-values of single r": tail,
		"a hidden Markov model fills in no cells of sing":   filler,
		"a gmm model has no sequences of states":            mix.Decode(ctx, src, Viterbi, 1, told),
		"a gmm model has no forecast":                       mix.Forecast(ctx, src, 1, 1, func(*Forecast) error { return nil }),
		"steps is 0":                                        m.Forecast(ctx, src, 0, 1, func(*Forecast) error { return nil }),
		"it must be viterbi, smooth or filter":              m.Decode(ctx, src, "guess", 1, told),
		"the rows have 1 columns, but the model":            m.Decode(ctx, &data.Table{N: 1, D: 1, F64: []float64{1}}, Viterbi, 1, told),
		"each is nil":                                       m.Decode(ctx, src, Viterbi, 1, nil),
		"is so far from all groups that no float":           m.Decode(ctx, &data.Table{N: 2, D: 2, F64: []float64{1, 1, 1e200, 1}}, Viterbi, 1, told),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, none := range []data.Source{&data.Table{D: 2}, struct{ data.Source }{&data.Table{D: 2}}} {
		if empty := decode(t, m, none, Viterbi, 1); empty.labels != nil {
			t.Errorf("no rows have labels %v", empty.labels)
		}
	}
}

// Standard errors of a chain are read as they are written: null on an edge.
func TestStandardErrorsOfAChain(t *testing.T) {
	m := parsed(t, []byte(weather))
	e := &StandardErrors{Rows: 10, Method: "observed information", Initial: Errors{0.1, 0.2, math.NaN()}, Transitions: []Errors{{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}, {math.NaN(), 0.7, 0.7}},
		Means: []Errors{{1, 2}, {3, 4}, {5, 6}}, Covariance: []Errors{{1, 2}, {3, 4}, {5, 6}}}
	m.SetStandardErrors(e)
	b, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again := parsed(t, b).StandardErrors
	if again == nil || again.Initial[1] != 0.2 || again.Initial[2] == again.Initial[2] || again.Transitions[1][2] != 0.6 || again.Transitions[2][0] == again.Transitions[2][0] {
		t.Errorf("read %+v", again)
	}
	turned := m.Reordered([]int{1, 0, 2}).StandardErrors
	if turned.Initial[0] != 0.2 || turned.Transitions[0][0] != 0.5 || turned.Transitions[0][1] != 0.4 || turned.Transitions[2][0] != 0.7 {
		t.Errorf("in another order %v, %v", turned.Initial, turned.Transitions)
	}
	var keys map[string]any
	if err := json.Unmarshal(b, &keys); err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(b), `"initial":[0.1,0.2,null]`, `"initial":[0.1,0.2]`, 1)
	if err := new(Model).UnmarshalJSON([]byte(bad)); err == nil || !strings.Contains(err.Error(), "standard_errors: initial and transitions") {
		t.Errorf("%v", err)
	}
}

// Every kind of emission has forecasts whose moments are those of many draws.
func TestForecastsAreTheMomentsOfDraws(t *testing.T) {
	chain := `"format": "latent-model", "version": 1, "model": "hmm", "initial": [1, 0], "transitions": [[0.6, 0.4], [0.3, 0.7]], `
	for _, file := range []string{
		`"emission": "poisson", "columns": ["n"], "rates": [[3], [20]]`,
		`"emission": "bernoulli", "columns": ["a", "b"], "probabilities": [[0.2, 0.5], [0.9, 0.1]]`,
		`"emission": "t", "covariance": "full", "columns": ["x"], "means": [[0], [5]], "scales": [[[1]], [[2]]], "dof": [8, 12]`,
		`"emission": "categorical", "columns": ["c"], "levels": [["p", "q", "r"]], "probabilities": [[[0.5, 0.3, 0.2]], [[0.1, 0.1, 0.8]]]`,
		`"emission": "mixed", "columns": ["n", "x", "c"], "types": ["count", "number", "category"], "levels": [["p", "q"]], "covariance": "full", "means": [[0], [5]], "covariances": [[[1]], [[2]]], "probabilities": [[[0.5, 0.5]], [[0.1, 0.9]]], "rates": [[2], [9]]`,
	} {
		m := parsed(t, []byte("{"+chain+file+"}"))
		const draws = 40000
		names, levels := m.ForecastVariables()
		sum, square, counts := make([]float64, len(names)), make([]float64, len(names)), map[[2]int]float64{}
		s, err := m.SamplerFrom(rand.New(rand.NewPCG(7, 7)))
		if err != nil {
			t.Fatal(err)
		}
		first, x := make([]float64, m.D()), make([]float64, m.D())
		for range draws { // two steps after a row in state 1, which the first row says nothing of: it lacks all cells
			s.Restart()
			for range 3 {
				s.Draw(x)
			}
			for j, v := range x {
				sum[j], square[j] = sum[j]+v, square[j]+v*v
				counts[[2]int{j, int(v)}]++
			}
		}
		for j := range first {
			first[j] = math.NaN()
		}
		err = m.Forecast(context.Background(), &data.Table{N: 1, D: m.D(), F64: first}, 2, 1, func(f *Forecast) error {
			if f.Step != 2 {
				return nil
			}
			for j := range names {
				v := &f.Variables[j]
				for l, p := range v.Levels {
					if math.Abs(counts[[2]int{j, l}]/draws-p) > 5*math.Sqrt(p*(1-p)/draws) {
						t.Errorf("%s: level %s of %s: %v, of draws %v", m.Emission, levels[j][l], names[j], p, counts[[2]int{j, l}]/draws)
					}
				}
				if v.Levels != nil {
					continue
				}
				mean := sum[j] / draws
				sd := math.Sqrt(square[j]/draws - mean*mean)
				if math.Abs(mean-v.Mean) > 5*v.SD/math.Sqrt(draws) || math.Abs(sd/v.SD-1) > 0.03 {
					t.Errorf("%s, %s: mean %v, sd %v; of draws %v, %v", m.Emission, names[j], v.Mean, v.SD, mean, sd)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	m := parsed(t, []byte("{"+chain+`"emission": "t", "covariance": "full", "columns": ["x"], "means": [[0], [5]], "scales": [[[1]], [[2]]], "dof": [8, 1.5]}`))
	err := m.Forecast(context.Background(), sequencesOf([][]float64{{0}}, 1, []int{1}), 1, 1, func(f *Forecast) error {
		if v := f.Variables[0]; v.Mean != v.Mean || v.SD == v.SD {
			t.Errorf("with 1.5 degrees of freedom there is a mean and no standard deviation, not %v and %v", v.Mean, v.SD)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A row without any cell keeps its place in a chain whose states take whole rows alone: where no row tells of the next, its states are as at the
// beginning, its density is 1 and the other rows are as without it. A row that lacks one cell is refused, and so are both by a mixture.
func TestRowsWithoutAnyCellOfStatesThatTakeWholeRows(t *testing.T) {
	const d = 65
	m := &Model{Kind: "hmm", Emission: "gmm", Shape: family.RoundFactors.WithFactors(1), Weights: []float64{0.7, 0.3}, Initial: []float64{0.7, 0.3}, Transitions: [][]float64{{0.7, 0.3}, {0.7, 0.3}},
		Means: [][]float64{make([]float64, d), slices.Repeat([]float64{0.25}, d)}, Loadings: [][]float64{slices.Repeat([]float64{0.5}, d), make([]float64, d)}, Uniquenesses: [][]float64{{1}, {2}}}
	rows := &data.Table{N: 4, D: d, F64: make([]float64, 4*d)}
	for j := range d {
		m.Columns = append(m.Columns, fmt.Sprint("x", j))
	}
	for i := range rows.F64 {
		rows.F64[i] = math.Sin(float64(i))
	}
	for _, how := range []Decoding{Filter, Smooth, Viterbi} {
		whole := decode(t, m, rows, how, 1)
		gap := *rows
		gap.F64 = slices.Clone(rows.F64)
		for j := range d {
			gap.F64[d+j] = math.NaN()
		}
		got := decode(t, m, &gap, how, 1)
		for i, want := range whole.densities {
			p := whole.p[i]
			if i == 1 {
				want, p = 0, m.Initial
			}
			if !close(got.densities[i], want, 1e-12, 1e-12) || !close(got.p[i][0], p[0], 1e-9, 1e-12) {
				t.Errorf("%s, row %d: log density %v and probabilities %v; want %v and %v", how, i+1, got.densities[i], got.p[i], want, p)
			}
		}
		gap.F64[d] = 1
		if err := m.Decode(context.Background(), &gap, how, 1, func(*Scored) error { return nil }); err == nil || !strings.Contains(err.Error(), "row 2: a cell is missing") {
			t.Errorf("%s: %v", how, err)
		}
	}
	mixture := *m
	mixture.Kind, mixture.Emission, mixture.Initial, mixture.Transitions = "gmm", "", nil, nil
	none := &data.Table{N: 1, D: d, F64: slices.Repeat([]float64{math.NaN()}, d)}
	if err := mixture.Rows(context.Background(), none, 1, func(*Scored) error { return nil }); err == nil || !strings.Contains(err.Error(), "row 1: a cell is missing") {
		t.Errorf("a mixture: %v", err)
	}
}
