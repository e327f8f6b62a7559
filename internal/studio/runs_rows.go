package studio

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// maxTables is how many bytes of rows stay in memory for runs; those of others are read again when they are asked for.
const maxTables = 512 << 20

// tables are the rows that runs were made of, the ones used last in memory, and what was found out about those of one run.
type tables struct {
	mu   sync.Mutex
	kept []*keptTable // the one used last is the last
	size int64
	of   *run // whose rows are scored below
	rows *scoredRows
	odd  *tail
}

// keptTable is a table in memory.
type keptTable struct {
	key   string
	table *data.Table
	bytes int64
}

// scoredRows is what the model of a run says of its rows.
type scoredRows struct {
	label       []int32
	probability []float64
	uncertainty []float64
	density     []float64
	mu          sync.Mutex
	by          string // what order is by
	order       []int32
}

// tail tells how unusual rows are, for one goroutine at a time.
type tail struct {
	mu sync.Mutex
	of *model.Tail
}

// key names the rows of a run: runs that read the same file in the same way share them. n.mu is held.
func (n *run) key() string {
	o := n.read
	o.Stdin, o.Threads = nil, 0
	return fmt.Sprintf("%s %+v", n.file.Path, o)
}

// put keeps the rows that a run has read.
func (t *tables) put(n *run, src data.Source) {
	table, ok := src.(*data.Table)
	if !ok {
		return
	}
	n.mu.Lock()
	key := n.key()
	n.mu.Unlock()
	t.keep(key, table)
}

// keep keeps a table, and lets go of those used longest ago.
func (t *tables) keep(key string, table *data.Table) {
	cell := int64(8)
	if table.F32 != nil {
		cell = 4
	}
	own := &keptTable{key, table, int64(table.N) * (int64(table.D)*cell + 32)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.bytes > maxTables || slices.ContainsFunc(t.kept, func(k *keptTable) bool { return k.key == key }) {
		return
	}
	t.kept, t.size = append(t.kept, own), t.size+own.bytes
	for t.size > maxTables {
		t.size -= t.kept[0].bytes
		t.kept = slices.Delete(t.kept, 0, 1)
	}
}

// get returns the rows of a run: those in memory, or read again.
func (t *tables) get(ctx context.Context, n *run) (*data.Table, error) {
	n.mu.Lock()
	key, o := n.key(), n.read
	n.mu.Unlock()
	t.mu.Lock()
	if at := slices.IndexFunc(t.kept, func(k *keptTable) bool { return k.key == key }); at >= 0 {
		own := t.kept[at]
		t.kept = append(slices.Delete(t.kept, at, at+1), own)
		t.mu.Unlock()
		return own.table, nil
	}
	t.mu.Unlock()
	src, _, err := data.Load(ctx, n.file.Path, o)
	if err != nil {
		return nil, err
	}
	table, ok := src.(*data.Table)
	if !ok {
		return nil, fmt.Errorf("%s: this is a fault of latent studio: its rows are not in memory", n.file.Name)
	}
	t.keep(key, table)
	return table, nil
}

// forget lets go of what was found out about the rows of a run.
func (t *tables) forget(n *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == n {
		t.of, t.rows, t.odd = nil, nil, nil
	}
}

// turnTo makes n the run about whose rows something is known.
func (t *tables) turnTo(n *run) (*scoredRows, *tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of != n {
		t.of, t.rows, t.odd = n, nil, nil
	}
	return t.rows, t.odd
}

// serveResponsibilities answers the shares of the groups in each mark at a frame: three numbers of groups and their shares, a byte each.
func (s *Studio) serveResponsibilities(w http.ResponseWriter, r *http.Request, n *run) {
	q := r.URL.Query()
	at, err := strconv.Atoi(q.Get("frame"))
	m, shares, beta := n.record.at(at)
	if err != nil || m == nil {
		fail(w, http.StatusNotFound, "there is no frame %q", q.Get("frame"))
		return
	}
	if m.NumLabels() > 256 {
		fail(w, http.StatusUnprocessableEntity, "rows are coloured by at most 256 groups, and there are %d", m.NumLabels())
		return
	}
	l, err := s.marksOf(r.Context(), n, q.Get("x"), q.Get("y"))
	var b []byte
	if err == nil {
		b, err = s.shares(r.Context(), n, shares, beta, l)
	}
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s", n.file.plain(err))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b) // an error means that nobody listens any more
}

// shares returns six bytes a mark: of the three largest groups, and their shares. Rows that were not fitted have none.
func (s *Studio) shares(ctx context.Context, n *run, m *model.Model, beta float64, l *layout) ([]byte, error) {
	marks := int(l.Rows)
	if l.Cells {
		marks = len(l.Marks) / l.Per
	}
	b := make([]byte, 6*marks)
	if m == nil {
		return b, nil
	}
	table, err := s.tables.get(ctx, n)
	if err != nil {
		return nil, err
	}
	k := m.NumLabels()
	var sum []float64 // by mark and group: a cell may hold all rows, too many to add up in less
	var rows []float64
	if l.Cells {
		sum, rows = make([]float64, marks*k), make([]float64, marks)
	}
	own := make([]float64, k)
	err = m.Rows(ctx, table, 0, func(sc *model.Scored) error {
		for i := range sc.N {
			at := sc.Number(i) - 1
			if at >= l.Rows {
				return fmt.Errorf("%s: the file has more rows than when it was opened", n.file.Name)
			}
			sharesOf(own, sc, i, beta)
			if !l.Cells {
				largest(b[6*at:6*at+6], own)
				continue
			}
			c := int(l.CellOf[at])
			if c < 0 {
				continue
			}
			rows[c]++
			for j, v := range own {
				sum[c*k+j] += v
			}
		}
		return nil
	})
	for c := range rows {
		if rows[c] == 0 {
			continue
		}
		for j := range own {
			own[j] = sum[c*k+j] / rows[c]
		}
		largest(b[6*c:6*c+6], own)
	}
	return b, err
}

// sharesOf sets q to the responsibilities of the components for row i at another temperature; the noise has what they leave. A row of the
// noise has none, so that it is drawn in the colour of no group.
func sharesOf(q []float64, sc *model.Scored, i int, beta float64) {
	p, label := sc.Responsibilities[i*sc.K:(i+1)*sc.K], int(sc.Label[i])
	if sc.Noise == nil {
		tempered(q, p, label, beta)
		return
	}
	if label < 0 {
		clear(q)
		return
	}
	wide := append(slices.Clone(p), sc.Noise[i])
	tempered(wide, slices.Clone(wide), label, beta)
	copy(q, wide)
}

// tempered sets q to responsibilities p at another temperature: p to the power beta, normalised, in logarithms. Where beta is infinite the label has all.
func tempered(q, p []float64, label int, beta float64) {
	switch {
	case beta == 1:
		copy(q, p)
		return
	case math.IsInf(beta, 1):
		clear(q)
		q[label] = 1
		return
	}
	sum := 0.0
	for c, v := range p { // the largest is far from 0, so that no power of it is lost
		q[c] = math.Exp(beta * (math.Log(v) - math.Log(p[label])))
		sum += q[c]
	}
	for c := range q {
		q[c] /= sum
	}
}

// largest sets dst to the three groups with the largest shares, and these in units of 1/255.
func largest(dst []byte, q []float64) {
	var top [3]int
	n := 0
	for c, v := range q {
		at := n
		for at > 0 && v > q[top[at-1]] {
			at--
		}
		if at == len(top) {
			continue
		}
		if n < len(top) {
			n++
		}
		copy(top[at+1:n], top[at:n-1])
		top[at] = c
	}
	for i := range n {
		dst[i], dst[3+i] = byte(top[i]), byte(math.Round(255*min(max(q[top[i]], 0), 1)))
	}
}

// scored returns what the result of a run says of its rows.
func (s *Studio) scored(ctx context.Context, n *run) (*data.Table, *scoredRows, error) {
	table, err := s.tables.get(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	if rows, _ := s.tables.turnTo(n); rows != nil {
		return table, rows, nil
	}
	rows := &scoredRows{}
	err = n.result.Model.Rows(ctx, table, 0, func(sc *model.Scored) error {
		for i, c := range sc.Label {
			p, rest := sc.Sure(i)
			rows.label, rows.probability = append(rows.label, c), append(rows.probability, p)
			rows.uncertainty, rows.density = append(rows.uncertainty, rest), append(rows.density, sc.LogDensity[i])
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	s.tables.mu.Lock()
	if s.tables.of == n {
		s.tables.rows = rows
	}
	s.tables.mu.Unlock()
	return table, rows, nil
}

// sorted returns the rows by density, uncertainty or as they stand.
func (r *scoredRows) sorted(by string) []int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == by {
		return r.order
	}
	order := make([]int32, len(r.label))
	for i := range order {
		order[i] = int32(i)
	}
	switch by { // equal ones as they stand
	case "density":
		slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(r.density[a], r.density[b]), cmp.Compare(a, b)) })
	case "uncertainty":
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(r.uncertainty[b], r.uncertainty[a]), cmp.Compare(a, b))
		})
	}
	r.by, r.order = by, order
	return order
}

// pageRows is how many rows a page has.
const pageRows = 50

// toldRow is a row as the page is told of it.
type toldRow struct {
	Row         int64    `json:"row"`
	ID          *string  `json:"id"`
	Label       int32    `json:"label"`
	Probability *float64 `json:"probability"`
	Uncertainty *float64 `json:"uncertainty"`
	LogDensity  *float64 `json:"log_density"`
	Values      []string `json:"values"`
}

// serveRows answers a page of rows.
func (s *Studio) serveRows(w http.ResponseWriter, r *http.Request, n *run) {
	q := r.URL.Query()
	by, from := q.Get("sort"), 0
	if by == "" {
		by = "row"
	}
	var err error
	if q.Has("from") {
		from, err = strconv.Atoi(q.Get("from"))
	}
	switch {
	case err != nil || from < 0:
		fail(w, http.StatusBadRequest, "from is %q; it must be a number, at least 0", q.Get("from"))
		return
	case by != "density" && by != "uncertainty" && by != "row":
		fail(w, http.StatusBadRequest, "sort is %q; it must be density, uncertainty or row", by)
		return
	}
	table, rows, err := s.scored(r.Context(), n)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s", n.file.plain(err))
		return
	}
	order := rows.sorted(by)
	page := []toldRow{}
	for _, at := range order[min(from, len(order)):min(from+pageRows, len(order))] {
		i := int(at)
		t := toldRow{Row: numberOf(table, i), Label: rows.label[i] + 1, Probability: number(rows.probability[i]), Uncertainty: number(rows.uncertainty[i]), LogDensity: number(rows.density[i])}
		if table.ID != nil {
			t.ID = &table.ID[i]
		}
		for j := range table.D {
			t.Values = append(t.Values, n.cell(table, i, j))
		}
		page = append(page, t)
	}
	answer(w, http.StatusOK, map[string]any{"total": table.N, "rows": page})
}

// numberOf returns the number of row i in the file, from 1.
func numberOf(t *data.Table, i int) int64 {
	if t.Row == nil {
		return int64(i) + 1
	}
	return t.Row[i]
}

// cell returns a cell as text: a number, the name of a level, a date; empty where there is none.
func (n *run) cell(t *data.Table, i, j int) string {
	v := t.At(i, j)
	m := n.result.Model
	switch {
	case v != v:
		return ""
	case j < len(m.Levels) && m.Levels[j] != nil && v >= 0 && int(v) < len(m.Levels[j]):
		return m.Levels[j][int(v)]
	case t.F32 != nil:
		return strconv.FormatFloat(v, 'g', -1, 32)
	}
	if _, dated := m.Date(m.Columns[j]); dated {
		return data.FormatDate(v)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// serveRunRow answers one row: its responsibilities, and how odd it is.
func (s *Studio) serveRunRow(w http.ResponseWriter, r *http.Request, n *run) {
	want, err := strconv.ParseInt(r.PathValue("row"), 10, 64)
	if err != nil {
		fail(w, http.StatusBadRequest, "row %q is no number", r.PathValue("row"))
		return
	}
	table, err := s.tables.get(r.Context(), n)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s", n.file.plain(err))
		return
	}
	i := sort.Search(table.N, func(i int) bool { return numberOf(table, i) >= want })
	if i == table.N || numberOf(table, i) != want {
		fail(w, http.StatusNotFound, "row %d was not fitted", want)
		return
	}
	told, err := s.odd(r.Context(), n, table, i)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s", n.file.plain(err))
		return
	}
	told["row"] = want
	answer(w, http.StatusOK, told)
}

// odd says how odd row i of a run is, and to which groups it belongs.
func (s *Studio) odd(ctx context.Context, n *run, table *data.Table, i int) (map[string]any, error) {
	t, err := s.tail(ctx, n, table)
	if err != nil {
		return nil, err
	}
	one := &data.Table{N: 1, D: table.D, F64: make([]float64, table.D)}
	table.Rows(one.F64, []int64{int64(i)})
	told := map[string]any{"odd": ""}
	t.mu.Lock()
	defer t.mu.Unlock()
	err = n.result.Model.Rows(ctx, one, 1, func(sc *model.Scored) error {
		p, err := t.of.P(ctx, sc, 0)
		if err != nil {
			return err
		}
		odd, ok, err := t.of.Oddest(ctx, sc, 0)
		if err != nil {
			return err
		}
		if ok {
			told["odd"] = odd.String()
		}
		told["responsibilities"], told["label"], told["p_value"] = slices.Clone(sc.Responsibilities), sc.Label[0]+1, number(p)
		return nil
	})
	return told, err
}

// tail returns what tells how unusual the rows of a run are.
func (s *Studio) tail(ctx context.Context, n *run, table *data.Table) (*tail, error) {
	if _, t := s.tables.turnTo(n); t != nil {
		return t, nil
	}
	t, m, err := &tail{}, n.result.Model, error(nil)
	if m.HasDensity() {
		t.of, err = m.Tail(model.TailDraws, model.TailSeed, 0)
	} else {
		t.of, err = m.TailAmong(ctx, table, 0)
	}
	if err != nil {
		return nil, err
	}
	s.tables.mu.Lock()
	defer s.tables.mu.Unlock()
	if s.tables.of == n {
		s.tables.odd = t
	}
	return t, nil
}
