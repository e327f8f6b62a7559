package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/latent-go/latent/data"
)

// faithful returns the rows of @faithful.
func faithful(t *testing.T) *data.Table {
	t.Helper()
	src, _, err := data.Load(t.Context(), "@faithful", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src.(*data.Table)
}

// plainShares returns the responsibilities of normal components on a plane, as the page gets them, for a row: each weight times density to the power beta.
func plainShares(components []float64, x, y, beta float64) (q []float64) {
	sum := 0.0
	for ; len(components) > 0; components = components[6:] {
		w, dx, dy, a, b, c := components[0], x-components[1], y-components[2], components[3], components[4], components[5]
		det := a*c - b*b
		q = append(q, math.Pow(w*math.Exp(-(c*dx*dx-2*b*dx*dy+a*dy*dy)/det/2)/math.Sqrt(det), beta))
		sum += q[len(q)-1]
	}
	for i := range q {
		q[i] /= sum
	}
	return q
}

// The shares of the rows at a frame are those of its responsibilities, by a plain loop over the components that the page draws, at every temperature.
func TestSharesAreThoseOfTheComponentsThatAreDrawn(t *testing.T) {
	t.Parallel()
	v, rows := visit(t), faithful(t)
	s := v.run(`{"data":"@faithful","trace":true,"spec":{"k":3,"algorithm":"anti-annealing","init":"random","seed":2,"beta":[0.5,1.5,1],"beta_steps":6}}`)
	all := v.floats("/api/runs/" + s.Run + "/components?x=eruptions&y=waiting")
	if len(all) != 18*len(s.Frames) {
		t.Fatalf("%d numbers for %d frames", len(all), len(s.Frames))
	}
	if late := v.floats("/api/runs/" + s.Run + "/components?x=eruptions&y=waiting&from=4"); len(late) != len(all)-72 || late[7] != all[79] {
		t.Errorf("from frame 4 on there are %d numbers, of %d", len(late), len(all))
	}
	if flat := v.floats("/api/runs/" + s.Run + "/components?x=waiting"); len(flat) != len(all)/2 || flat[1] != all[2] || flat[2] != all[5] {
		t.Errorf("on one axis there are %v, on two %v", flat[:9], all[:18])
	}
	betas := map[float64]bool{}
	for i, f := range s.Frames {
		code, b := v.get("/api/runs/" + s.Run + "/responsibilities?frame=" + strconv.Itoa(i))
		if code != 200 || len(b) != 6*rows.N {
			t.Fatalf("frame %d: %d, %d bytes", i, code, len(b))
		}
		if f.Half == "start" {
			if !bytes.Equal(b, make([]byte, len(b))) {
				t.Error("rows have groups before the first E-step")
			}
			continue
		}
		betas[*f.Beta] = true
		at := i
		if f.Half == "M" { // rows are as they were shared out before it
			at--
		}
		for r := range rows.N {
			want := plainShares(all[18*at:18*at+18], rows.At(r, 0), rows.At(r, 1), *f.Beta)
			for j := range 3 {
				if got := float64(b[6*r+3+j]) / 255; math.Abs(got-want[b[6*r+j]]) > 0.6/255+1e-3 {
					t.Fatalf("frame %d, row %d: group %d has %v, a plain loop gives %v", i, r+1, b[6*r+j], got, want)
				}
			}
		}
	}
	if len(betas) != 3 {
		t.Errorf("temperatures %v", betas)
	}
}

// Rows of a result are the lines of its labels, in each order; one row is as odd as `label --outliers` says.
func TestRowsAreThoseOfTheLabels(t *testing.T) {
	t.Parallel()
	v := visit(t)
	id := v.upload("two groups.csv", twoGroups())
	s := v.run(`{"data":"` + id + `","spec":{"k":2},"options":{"id":"name"}}`)
	_, b := v.get("/api/runs/" + s.Run + "/labels.csv")
	lines, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Row         int
		ID          string
		Label       int
		Probability float64
		Uncertainty float64
		LogDensity  float64 `json:"log_density"`
		Values      []string
	}
	for _, sort := range []string{"row", "density", "uncertainty"} {
		seen, before := map[int]bool{}, math.Inf(-1)
		for from := 0; from < 120; from += 50 {
			_, b := v.get(fmt.Sprintf("/api/runs/%s/rows?sort=%s&from=%d", s.Run, sort, from))
			var page struct {
				Total int
				Rows  []row
			}
			if err := json.Unmarshal(b, &page); err != nil || page.Total != 120 || len(page.Rows) != min(50, 120-from) {
				t.Fatalf("%v: %.200s", err, b)
			}
			for _, r := range page.Rows {
				seen[r.Row] = true
				by := map[string]float64{"row": float64(r.Row), "density": r.LogDensity, "uncertainty": -r.Uncertainty}[sort]
				if by < before {
					t.Errorf("%s: row %d comes after a greater one", sort, r.Row)
				}
				before = by
				line := lines[r.Row]
				if line[0] != r.ID || line[1] != strconv.Itoa(r.Label) || line[2] != strconv.FormatFloat(r.Probability, 'g', -1, 64) || len(r.Values) != 2 {
					t.Errorf("row %+v, labels %v", r, line)
				}
			}
		}
		if len(seen) != 120 {
			t.Errorf("%s: %d rows", sort, len(seen))
		}
	}
	dir := t.TempDir()
	_, b = v.get("/api/runs/" + s.Run + "/model.json")
	os.WriteFile(filepath.Join(dir, "model.json"), b, 0o600)
	os.WriteFile(filepath.Join(dir, "two groups.csv"), []byte(twoGroups()), 0o600)
	var out, errw bytes.Buffer
	if code := run(t.Context(), []string{"label", filepath.Join(dir, "model.json"), filepath.Join(dir, "two groups.csv"), "--outliers", "0.99", "--id", "name"}, strings.NewReader(""), &out, &errw); code != 0 {
		t.Fatal(errw.String())
	}
	lines, err = csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []int{1, 60, 120} {
		_, b := v.get(fmt.Sprintf("/api/runs/%s/rows/%d", s.Run, r))
		var told struct {
			Row              int
			Responsibilities []float64
			Label            int
			P                float64 `json:"p_value"`
			Odd              string
		}
		if err := json.Unmarshal(b, &told); err != nil || told.Row != r || len(told.Responsibilities) != 2 {
			t.Fatalf("%v: %s", err, b)
		}
		if line := lines[r]; line[4] != strconv.FormatFloat(told.P, 'g', -1, 64) || told.P < 0.99 && line[6] != told.Odd {
			t.Errorf("row %+v, label --outliers says %v", told, line)
		}
	}
	if code, _ := v.get("/api/runs/" + s.Run + "/rows/121"); code != 404 {
		t.Errorf("a row that is not there: %d", code)
	}
}

// Marks of more than 100,000 rows are cells, and have the mean shares of their rows.
func TestSharesOfManyRowsAreThoseOfCells(t *testing.T) {
	t.Parallel()
	v := visit(t)
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 100_001 {
		fmt.Fprintf(&b, "%d,%d\n", i%10+20*(i%2), i%7)
	}
	id := v.upload("many.csv", b.String())
	s := v.run(`{"data":"` + id + `","trace":true,"spec":{"k":2,"model":"kmeans","init":"k-means++"}}`)
	marks := v.floats("/api/data/" + id + "/marks?x=x&y=y")
	_, shares := v.get("/api/runs/" + s.Run + "/responsibilities?frame=" + strconv.Itoa(len(s.Frames)-1) + "&x=x&y=y")
	centres := v.floats("/api/runs/" + s.Run + "/components?x=x&y=y&from=" + strconv.Itoa(len(s.Frames)-1))
	if len(marks) != 3*70 || len(shares) != 6*70 || len(centres) != 12 {
		t.Fatalf("%d numbers of marks, %d bytes of shares, %d numbers of centres", len(marks), len(shares), len(centres))
	}
	for i := range 70 {
		nearest := 0
		if math.Abs(marks[3*i]-centres[7]) < math.Abs(marks[3*i]-centres[1]) {
			nearest = 1
		}
		if int(shares[6*i]) != nearest || shares[6*i+3] != 255 || centres[3] == centres[3] {
			t.Errorf("cell %v has %v", marks[3*i:3*i+3], shares[6*i:6*i+6])
		}
	}
}

// Handlers answer side by side, and a table is refused what makes no sense, in one line.
func TestRunsSideBySide(t *testing.T) {
	t.Parallel()
	v := visit(t)
	id := v.upload("two groups.csv", twoGroups())
	var all sync.WaitGroup
	ask := func(method, path, body string) (int, string) {
		kind := ""
		if method == "POST" {
			kind = "application/json"
		}
		r, err := v.ask(context.Background(), method, path, kind, []byte(body))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	for i := range 12 {
		all.Go(func() {
			body := fmt.Sprintf(`{"data":%q,"trace":%v,"spec":{"k":2,"seed":%d,"covariance":"diag"}}`, []string{id, "@iris", "@faithful"}[i%3], i%2 == 0, i)
			code, b := ask("POST", "/api/runs", body)
			if code == 503 { // eight are under way
				return
			}
			var first struct{ Run string }
			json.Unmarshal([]byte(strings.SplitN(b, "\n", 2)[0]), &first)
			if code != 200 || first.Run == "" || !strings.Contains(b, `"finding"`) {
				t.Errorf("%d: %.300s", code, b)
				return
			}
			for _, path := range []string{"/components?x=pc1&y=pc2", "/components?x=" + []string{"c", "sepal_length", "waiting"}[i%3], "/responsibilities?frame=0", "/rows?sort=density", "/rows/3", "/labels.csv", "/model.json", "/trace.csv", ""} {
				if code, b := ask("GET", "/api/runs/"+first.Run+path, ""); code != 200 && code != 404 { // 404: others have taken its place
					t.Errorf("%s: %d %.200s", path, code, b)
				}
			}
		})
		all.Go(func() { ask("GET", "/api/state", "") })
	}
	all.Wait()
	for body, want := range map[string]string{
		`{"data":"@iris","spec":{"k":2,"colour":3}}`:                                         "colour",
		`{"data":"@iris","spec":{"k":2},"other":1}`:                                          "other",
		`{"data":"@iris","spec":{"k":2}} {}`:                                                 "more",
		`[]`:                                                                                 "JSON",
		`{"data":"d99","spec":{"k":2}}`:                                                      "open",
		`{"data":"@iris","spec":{"k":-2}}`:                                                   "-k",
		`{"data":"@iris","spec":{"k":2,"covariance":"round"}}`:                               "round",
		`{"data":"@iris","spec":{"k":2,"init":"model:/etc/passwd"}}`:                         "options.start",
		`{"data":"@iris","spec":{"k":2,"n_init":3},"trace":true}`:                            "one start",
		`{"data":"` + id + `","spec":{"k":200}}`:                                             "number of rows is 120",
		`{"data":"@iris","spec":{"k":2},"options":{"id":"nothing"}}`:                         "nothing",
		`{"data":"@iris","spec":{"k":2},"options":{"centers":[[1],[2]]}}`:                    "centers",
		`{"data":"@iris","spec":{"k":3},"options":{"centers":[[1,2,3,4],[2,3,4,5]]}}`:        "-k is 3",
		`{"data":"@iris","spec":{"k":2},"options":{"start":"r1000"}}`:                        "no longer",
		`{"data":"@iris","spec":{"k":2,"column_names":["a"]}}`:                               "column_names",
		`{"data":"@iris","spec":{"k":2},"options":{"exclude":["--out","/never/there"]}}`:     "--out",
		`{"data":"@iris","spec":{"k":2,"transform":"--trace=/never"}}`:                       "transform",
		`{"data":"@iris","spec":{"k":2,"k_range":[1,2]}}`:                                    "k_range",
		`{"data":"@iris","spec":{"k":2,"init":"centers"}}`:                                   "centers",
		`{"data":"@iris","spec":{"k":2,"init":"random"},"options":{"centers":[[1,2,3,4]]}}`:  "init",
		`{"data":"@iris","spec":{"k":2,"missing":"model"},"options":{"missing":"drop"}}`:     "missing",
		`{"data":"@iris","spec":{"k":2,"init":"labels:"}}`:                                   "labels",
		`{"data":"@iris","spec":{"k":3,"init":"labels:species","algorithm":"em"},"trace":3}`: "JSON",
		`{"data":"@iris","spec":{"model":"kmeans"}}`:                                         "-k",
		`{"data":"@iris","spec":{"k":2,"penalty":3}}`:                                        "penalty",
		`{"data":"@iris","spec":{"k":2,"beta":[2,3]}}`:                                       "beta",
	} {
		code, b := ask("POST", "/api/runs", body)
		var told struct{ Error string }
		lines := strings.Split(strings.TrimSpace(b), "\n")
		json.Unmarshal([]byte(lines[len(lines)-1]), &told)
		if late := len(lines) == 2; late != (code == 200) || !late && (code < 400 || code >= 500) || !strings.Contains(told.Error, want) || strings.Contains(told.Error, "\n") || strings.Contains(told.Error, os.TempDir()) {
			t.Errorf("%s: %d %s", body, code, b)
		}
	}
}
