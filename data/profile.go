package data

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
)

// Report is what a file holds, looked at more closely than fitting needs.
type Report struct {
	*Info
	Distinct       []int64    // different values in each column of the file, cells without one not counted
	Skewness       []float64  // of the numbers of each column of the file: the mean cube of their distances from the mean, over that of squares to 3/2; NaN where it is not known
	Dates          [][]string // by column, the kinds of Change that read the texts that were looked at as dates; both dmy and mdy where nothing tells them apart
	IncompleteRows int64      // rows in which a feature or the weight has no value
	DuplicateRows  int64      // rows whose features are those of a row before them; those in which no feature has a value are not among them
	Err            error      // what Load would refuse the file for; nil if it would not
}

// Profile reads a table as Load would, and reports on it. What Load would refuse because of the values in it is in the
// report; an error is returned for a file that cannot be read to the end.
func Profile(ctx context.Context, path string, o Options) (*Report, error) {
	if err := CheckContext(ctx); err != nil {
		return nil, err
	}
	o.Stream = false
	l, err := newLoader(ctx, path, o)
	if err != nil {
		return nil, err
	}
	defer l.file.Close()
	r, err := l.profile(ctx)
	if err = l.file.after(err); err != nil {
		return nil, err
	}
	r.Err = l.file.locate(r.Err)
	return r, nil
}

// profile is Profile of an open file.
func (l *loader) profile(ctx context.Context) (*Report, error) {
	l.wide = true
	if err := l.measure(ctx); err != nil {
		return nil, err
	}
	r := &Report{Info: l.info, Distinct: make([]int64, len(l.cols.names)), Skewness: slices.Repeat([]float64{math.NaN()}, len(l.cols.names))}
	if r.Err = l.decide(ctx); r.Err == nil {
		r.Err = l.checkMissing(ctx)
	}
	if r.Err == nil {
		r.Err = l.settle(ctx)
	}
	cols := slices.Clone(l.features)
	if l.weight >= 0 {
		cols = append(cols, l.weight)
	}
	var err error
	if r.IncompleteRows, err = l.incomplete(ctx, cols); err != nil {
		return nil, err
	}
	l.info.Rows = l.n
	drops := l.o.Missing == "drop" && !l.keepsGaps()
	if l.keepsGaps() {
		l.info.MissingCells = l.missingCells()
	}
	if drops {
		l.noteRows(l.n - r.IncompleteRows)
		if r.Err == nil {
			r.Err = l.checkKept(l.info.Rows)
		}
	}
	if err := r.look(ctx, l); err != nil {
		return nil, err
	}
	for c := range l.stats {
		var kinds []string
		if texts := l.stats[c].samples; texts != nil {
			kinds = dateKinds(texts)
		}
		r.Dates = append(r.Dates, kinds)
	}
	if r.DuplicateRows > 0 && !l.o.Chain { // rows of a sequence have times of their own
		l.warn("%s the same as one before in %s", plural(r.DuplicateRows, "row is", "rows are"), fitted(len(l.features)))
	}
	if r.IncompleteRows > 0 && !drops {
		l.warn("%s at least one missing value", plural(r.IncompleteRows, "row has", "rows have"))
	}
	return r, nil
}

// fitted names the columns that are compared for repeated rows.
func fitted(n int) string {
	if n == 1 {
		return "the column that is fitted"
	}
	return "the " + thousands(int64(n)) + " columns that are fitted"
}

// nested is what formats offer whose columns may hold lists or groups: cells without a text of their own.
type nested interface{ nested(column int) bool }

// textCost is about what a text in a set takes beside its bytes: its length and place, twice where the set has grown.
const textCost = 64

// look makes the pass that counts distinct values and repeated rows. Numbers are held column by column, which takes
// as much memory as a fit, or where float64 does not hold them by a hash of their text; texts are held once each.
func (r *Report) look(ctx context.Context, l *loader) error {
	wants := make([]want, len(l.cols.names))
	values := make([][]float64, len(wants))
	texts := make([]map[string]struct{}, len(wants))
	long := make([][]uint64, len(wants)) // what numbers beyond 2^53 are as text, by a hash
	seed := maphash.MakeSeed()
	for c := range wants {
		if n, ok := l.file.cells.(nested); ok && n.nested(c) {
			continue // its cells cannot be told apart
		}
		d := l.dict(c)
		if coded := d != nil && !d.full.Load(); coded {
			wants[c] = number
		} else if k := l.info.Columns[c].Kind; k == "text" || l.stats[c].n == 0 && (c == l.id || d != nil) {
			wants[c], texts[c] = text, map[string]struct{}{}
		} else if l.stats[c].rounded > 0 {
			wants[c], long[c] = number|text, make([]uint64, l.n)
		} else if l.stats[c].n > 0 {
			wants[c], values[c] = number, make([]float64, l.n)
		}
	}
	p := newPlan(wants)
	hashes := make([]uint64, l.n)
	var mu sync.Mutex
	err := l.cells.read(ctx, wants, false, l.threads, func(b *batch) error {
		first := int(b.First)
		for c := range wants {
			if values[c] != nil {
				gather(values[c][first:first+b.N], b.F64, b.N, p.numbers, []int{p.number[c]})
			}
			if long[c] != nil {
				for i := range b.N {
					if t := b.Text[i*p.texts+p.text[c]]; !l.isMissing(c, t) {
						long[c][first+i] = maphash.String(seed, t) | 1
					}
				}
			}
			if texts[c] != nil {
				mu.Lock()
				held := int64(0)
				for i := range b.N {
					t := b.Text[i*p.texts+p.text[c]]
					if _, seen := texts[c][t]; !seen && !l.isMissing(c, t) {
						texts[c][strings.Clone(t)] = struct{}{} // a batch is one string, of which a few cells are kept
						held += int64(len(t)) + textCost
					}
				}
				mu.Unlock()
				if err := l.hold(held, "the different texts"); err != nil {
					return err
				}
			}
		}
		for i := range b.N {
			hashes[first+i] = hashRow(b.F64[i*p.numbers:(i+1)*p.numbers], p, l.features)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for c := range wants {
		r.Distinct[c] = int64(len(texts[c]))
		if d := l.dict(c); d != nil && !d.full.Load() {
			r.Distinct[c] = int64(d.count())
		}
		if values[c] != nil {
			r.Skewness[c] = skewness(values[c], l.stats[c].mean)
			r.Distinct[c] = distinct(values[c])
		}
		if long[c] != nil {
			slices.Sort(long[c])
			r.Distinct[c] = int64(len(slices.Compact(long[c])))
			if long[c][0] == 0 { // a cell without a value
				r.Distinct[c]--
			}
		}
	}
	if len(l.features) > 0 {
		slices.Sort(hashes)
		empty, _ := slices.BinarySearch(hashes, emptyRow+1)
		r.DuplicateRows = l.n - int64(empty+len(slices.Compact(hashes[empty:])))
	}
	return nil
}

// skewness returns that of the finite numbers of x, whose mean is known; NaN for numbers that do not differ.
func skewness(x []float64, mean float64) float64 {
	scale := 0.0 // so that no cube overflows
	for _, v := range x {
		if d := math.Abs(v - mean); d > scale && !math.IsInf(d, 1) {
			scale = d
		}
	}
	n, squares, cubes := 0.0, 0.0, 0.0
	for _, v := range x {
		if d := (v - mean) / scale; !math.IsNaN(d) && !math.IsInf(d, 0) {
			n++
			squares += d * d
			cubes += d * d * d
		}
	}
	return cubes / n / math.Pow(squares/n, 1.5)
}

// emptyRow is the hash of a row without any value.
const emptyRow = 0

// hashRow mixes the features of a row into 64 bits (the finalizer of MurmurHash3 after each). Two different rows of a
// million have the same hash about once in 37 million files.
func hashRow(row []float64, p *plan, features []int) uint64 {
	h, empty := uint64(len(features)), true
	for _, c := range features {
		v := math.NaN()
		if k := p.number[c]; k >= 0 {
			v = row[k]
		}
		empty = empty && v != v
		if v == 0 {
			v = 0 // no difference between 0 and -0
		}
		h = (h ^ math.Float64bits(v)) * 0x9E3779B97F4A7C15
		h ^= h >> 33
		h *= 0xFF51AFD7ED558CCD
		h ^= h >> 33
	}
	if empty {
		return emptyRow
	}
	return h
}

// distinct counts the different numbers; NaN is none. It sorts v.
func distinct(v []float64) int64 {
	slices.Sort(v) // NaN comes first
	n := int64(0)
	for i, x := range v {
		if x == x && (i == 0 || x != v[i-1]) {
			n++
		}
	}
	return n
}

// MarshalJSON writes the report with the keys of `latent check --json`.
func (r *Report) MarshalJSON() ([]byte, error) {
	type column struct {
		Name      string   `json:"name"`
		Kind      string   `json:"kind"`
		Use       string   `json:"use"`
		Why       string   `json:"why"`
		Type      string   `json:"type,omitempty"`
		Missing   int64    `json:"missing"`
		NonFinite int64    `json:"non_finite"`
		Distinct  int64    `json:"distinct"`
		Min       *float64 `json:"min"`
		Max       *float64 `json:"max"`
		Mean      *float64 `json:"mean"`
		SD        *float64 `json:"sd"`
	}
	out := struct {
		File       string   `json:"file"`
		Format     string   `json:"format"`
		Rows       int64    `json:"rows"`
		Delimiter  string   `json:"delimiter"`
		Decimal    string   `json:"decimal"`
		Header     bool     `json:"header"`
		Columns    []column `json:"columns"`
		Incomplete int64    `json:"incomplete_rows"`
		Duplicate  int64    `json:"duplicate_rows"`
		Warnings   []string `json:"warnings"`
		Error      string   `json:"error,omitempty"`
	}{r.Name, r.Format, max(r.FileRows, r.Rows+r.Dropped), r.Delimiter, r.Decimal, r.Header, []column{}, r.IncompleteRows, r.DuplicateRows, r.Warnings, ""}
	if out.Warnings == nil {
		out.Warnings = []string{}
	}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		j := column{Name: c.Name, Kind: c.Kind, Use: c.Use, Why: c.Why, Type: c.Type, Missing: c.Missing, NonFinite: c.NonFinite, Distinct: r.Distinct[i]}
		if c.Numbers > 0 && c.Kind != "text" {
			j.Min, j.Max, j.Mean = &c.Min, &c.Max, finite(c.Mean)
			j.SD = finite(c.SD)
		}
		out.Columns = append(out.Columns, j)
	}
	return json.Marshal(out)
}

// finite returns nil for what JSON cannot say: the spread of numbers near the end of the range.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
