package score_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/latent-go/latent/score"
)

// oracleTolerance is the agreement to ask for: the two computations behind the files differ by up to 1.2e-14.
const oracleTolerance = 1e-12

type oracleFile struct {
	Data struct {
		File      string
		Columns   []string
		Transform string
	}
	Cases []oracleCase
}

type oracleCase struct {
	Name              string
	K                 int
	Labels            []int
	Silhouette        *float64
	CalinskiHarabasz  *float64  `json:"calinski_harabasz"`
	DaviesBouldin     *float64  `json:"davies_bouldin"`
	SilhouetteSamples []float64 `json:"silhouette_samples"`
	Truth             *struct {
		Labels       []int
		Contingency  [][]float64
		ARI          *float64
		NMI          *float64
		Homogeneity  *float64
		Completeness *float64
		VMeasure     *float64 `json:"v_measure"`
	}
}

func TestOracle(t *testing.T) {
	files, err := filepath.Glob("../testdata/oracle/scores/*.json")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files of scores (%v), want 4", len(files), err)
	}
	total := 0
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var f oracleFile
			if err := json.Unmarshal(text, &f); err != nil {
				t.Fatal(err)
			}
			x, n := table(t, f.Data.File, f.Data.Columns)
			switch f.Data.Transform {
			case "none":
			case "standard":
				standardise(x, n, len(f.Data.Columns))
			default:
				t.Fatalf("transform %q is not known", f.Data.Transform)
			}
			ran := 0
			for _, c := range f.Cases {
				if t.Run(c.Name, func(t *testing.T) { c.check(t, x, n, len(f.Data.Columns)) }) {
					ran++
				}
			}
			// Counted in the text too, so that a case the struct above lost does not pass.
			if stated := strings.Count(string(text), `"davies_bouldin":`); ran != len(f.Cases) || ran != stated || ran == 0 {
				t.Errorf("%d of %d cases passed", ran, stated)
			}
			t.Logf("%s: ran %d cases of %d", filepath.Base(name), ran, len(f.Cases))
			total += ran
		})
	}
	t.Logf("%d cases in %d files", total, len(files))
}

func (c *oracleCase) check(t *testing.T, x []float64, n, d int) {
	equal := func(what string, got float64, err error, want *float64) {
		t.Helper()
		if want == nil {
			t.Errorf("%s is missing from the file", what)
		} else if err != nil || !near(got, *want, oracleTolerance) {
			t.Errorf("%s = %v (%v), want %v", what, got, err, *want)
		}
	}
	p := &score.Partition{N: n, D: d, X: x, Labels: c.Labels}
	rows := make([]float64, n)
	mean, err := p.Silhouette(context.Background(), rows)
	equal("silhouette", mean, err, c.Silhouette)
	ch, err := p.CalinskiHarabasz()
	equal("Calinski-Harabasz", ch, err, c.CalinskiHarabasz)
	db, err := p.DaviesBouldin()
	equal("Davies-Bouldin", db, err, c.DaviesBouldin)
	s := streamed(t, p)
	ch, err = s.CalinskiHarabasz()
	equal("Calinski-Harabasz of a stream", ch, err, c.CalinskiHarabasz)
	db, err = s.DaviesBouldin()
	equal("Davies-Bouldin of a stream", db, err, c.DaviesBouldin)
	if c.SilhouetteSamples != nil && len(c.SilhouetteSamples) != n {
		t.Errorf("%d silhouettes in the file for %d rows", len(c.SilhouetteSamples), n)
	}
	for i, want := range c.SilhouetteSamples {
		equal("silhouette of row "+strconv.Itoa(i), rows[i], nil, &want)
	}

	if c.Truth == nil {
		return
	}
	g := agreement(t, c.Truth.Labels, c.Labels, nil)
	equal("ARI", g.ARI(), nil, c.Truth.ARI)
	equal("NMI", g.NMI(), nil, c.Truth.NMI)
	equal("homogeneity", g.Homogeneity(), nil, c.Truth.Homogeneity)
	equal("completeness", g.Completeness(), nil, c.Truth.Completeness)
	equal("V-measure", g.VMeasure(), nil, c.Truth.VMeasure)
	for i, row := range c.Truth.Contingency {
		for j, want := range row {
			if got := g.Count(i, j); got != want {
				t.Errorf("contingency[%d][%d] = %v, want %v", i, j, got, want)
			}
		}
	}
}

// table reads columns of a data set: n rows, row-major.
func table(t *testing.T, name string, columns []string) (x []float64, n int) {
	file, err := os.Open(filepath.Join("../data/datasets", filepath.Base(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		for _, c := range columns {
			v, err := strconv.ParseFloat(line[slices.Index(lines[0], c)], 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
	}
	return x, len(lines) - 1
}

// standardise makes every column's mean 0 and standard deviation (divisor n) 1, in two passes.
func standardise(x []float64, n, d int) {
	for j := range d {
		var mean, square float64
		for i := range n {
			mean += x[i*d+j] / float64(n)
		}
		for i := range n {
			x[i*d+j] -= mean
			square += x[i*d+j] * x[i*d+j] / float64(n)
		}
		sd := math.Sqrt(square)
		for i := range n {
			x[i*d+j] /= sd
		}
	}
}
