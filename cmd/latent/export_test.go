package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// python returns a Python with scikit-learn: that of LATENT_PYTHON or python3.
func python(t *testing.T) string {
	t.Helper()
	name := os.Getenv("LATENT_PYTHON")
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s: set LATENT_PYTHON to a Python that has scikit-learn", name)
	}
	if out, err := exec.Command(path, "-c", "import sklearn").CombinedOutput(); err != nil {
		t.Skipf("%s has no scikit-learn: set LATENT_PYTHON to a Python that has it\n%s", name, out)
	}
	return path
}

// sameLabels is run after the Python of the page. It demands that each model gives the labels of latent, and that the JSON
// holds what the NPZ does.
const sameLabels = `
import csv, json

def rows(path):
    with open(path) as f:
        return list(csv.DictReader(f))

def cell(s):
    try:
        return float(s)
    except ValueError:
        return (np.datetime64(s) - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")

for name, table in ((line.split()) for line in open("models.txt")):
    npz, a = name + ".npz", np.load(name + ".npz")
    for key, v in json.load(open(name + ".array.json")).items():
        assert np.array_equal(a[key], np.array(v)) and a[key].shape == np.array(v).shape, (name, key)
    text, want = rows(table), rows(name + ".csv")
    kind, labels = str(a["model"]), np.array([int(r["label"]) for r in want])
    if kind in ("categorical", "mixed"):
        levels = iter(np.split(a["levels"], np.cumsum(a["n_levels"])[:-1]))
        types = a["types"] if kind == "mixed" else ["category"] * len(a["columns"])
        place = [list(next(levels)).index if t == "category" else cell for t in types]
        x = np.array([[f(r[c]) for c, f in zip(a["columns"], place)] for r in text])
    else:
        x = transform(npz, np.array([[cell(r[c]) for c in a["columns"]] for r in text]))
    p = None
    if kind == "gmm":
        m = mixture(npz)
        got, p = m.predict(x), m.predict_proba(x)
        from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky
        theirs = _compute_precision_cholesky(m.covariances_, m.covariance_type)
        np.testing.assert_allclose(m.precisions_cholesky_, theirs, rtol=1e-9, atol=1e-12 * abs(theirs).max(), err_msg=name)
        if len(a["transform"]) == 0:
            np.testing.assert_allclose(m.score_samples(x), [float(r["log_density"]) for r in rows(name + ".score.csv")], rtol=1e-9, err_msg=name)
    elif kind == "kmeans":
        got = kmeans(npz).predict(x)
    elif kind == "kmedians":
        got = kmedians(npz, x)
    elif kind == "hmm":
        got = hmm_path(npz, x)
    elif kind + "_mixture" in globals():
        p = globals()[kind + "_mixture"](npz, x)
        got = p.argmax(axis=1)
    elif kind in ("bernoulli", "categorical"):
        m = naive_bayes(npz)
        got, p = m.predict(x), m.predict_proba(x)
    else:
        raise SystemExit("docs/export.md has no function %s_mixture(path, x) in its Python, which returns responsibilities" % kind)
    assert len(set(labels)) > 1 and np.array_equal(got + 1, labels), (name, (got + 1 != labels).sum())
    if p is not None:
        ours = np.array([[float(r["p%d" % (c + 1)]) for c in range(p.shape[1])] for r in want])
        np.testing.assert_allclose(p, ours, atol=1e-8, err_msg=name)
    print("same labels", name)
`

// The Python of docs/export.md loads what the command writes, and predicts what latent label does.
func TestExportedModelsPredictTheSameInScikitLearn(t *testing.T) {
	py := python(t)
	page, err := os.ReadFile("../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(page), "\n")
	script := ""
	for _, f := range fences(lines) {
		if f.info == "python" {
			script += strings.Join(lines[f.from:f.to], "\n") + "\n"
		}
	}
	iris, err := os.ReadFile("../../data/datasets/iris.csv")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("iris.csv", string(iris))
	write("sky.csv", "sky,wind\n"+strings.Repeat("clear,calm\nclear,calm\nclear,gale\nrain,gale\nrain,gale\nfog,gale\n", 8))
	models := map[string]string{}
	for _, shape := range strings.Fields("full tied diag spherical tied-diag tied-spherical VEI EVI VEE EVE VVE EEV VEV EVV") {
		models[shape] = "iris.csv -k 3 --n-init 1 --exclude species --covariance " + shape
	}
	models["scaled"] = "iris.csv -k 3 --n-init 1 --exclude species --scale robust"
	models["components"] = "iris.csv -k 3 --n-init 1 --exclude species --scale standard --pca 2"
	models["kmeans"] = "iris.csv -k 3 --exclude species --model kmeans --scale standard"
	models["kmedians"] = "iris.csv -k 3 --exclude species --model kmedians"
	models["bits"] = "iris.csv -k 2 --exclude species --model bernoulli --binarize 2.5"
	models["categories"] = "sky.csv -k 2 --model categorical"
	write("whole.csv", "a,b,c\n"+strings.Repeat("0,3,1\n1,2,0\n0,4,0\n6,0,2\n5,1,1\n8,0,1\n2,3,1\n", 6))
	for _, name := range kind.Names() { // others, all of which take whole numbers
		if k := kind.Of(name); !k.Cells.Units && !k.Cells.Bits && !k.Cells.Levels {
			models[name] = "whole.csv -k 2 --model " + name
		}
	}
	types := "a,b,c,d,e\n"
	for i, line := range strings.Split(strings.TrimSpace(string(iris)), "\n")[1:] {
		cells := strings.Split(line, ",")
		types += fmt.Sprintf("%s,%d,%s,%c,%s\n", cells[0], i*i%7+i/60*5, cells[2], 'u'+rune(i%3+i/75)%3, cells[4])
	}
	write("types.csv", types)
	for _, shape := range strings.Fields("full tied diag spherical VEE") {
		models["types-"+shape] = "types.csv -k 2 --n-init 1 --types b=count --scale standard --covariance " + shape
	}
	models["types-numbers"] = "types.csv -k 2 --n-init 1 --exclude b"
	models["types-none"] = "types.csv -k 2 --n-init 1 --exclude a,c --types b=count"
	places := "lat,who,when,lon,price,rate\n"
	for i := range 60 {
		places += fmt.Sprintf("%d,%c,2024-0%d-%02d,%d,%g,%g\n", 10+i%2*30+i%7, 'u'+rune(i%3), 1+i%2*4, 1+i*i%28, (175+i*i%11+i%2*90)%360-180, 1.5+float64(i%13+i%2*20), float64(1+i%2*50+i%17)/100)
	}
	write("stations.csv", places)
	const scales = " --transform log:price;geo:lat,lon;date:when;logit:rate --allow-long"
	models["places"] = "stations.csv -k 2 --n-init 1 --exclude who --covariance diag" + scales
	models["places-scaled"] = "stations.csv -k 2 --n-init 1 --exclude who --scale standard --model kmeans --n-init 1" + scales
	models["places-types"] = "stations.csv -k 2 --n-init 1 --model mixed --types who=category --scale standard --covariance diag" + scales
	models["logs"] = "iris.csv -k 3 --n-init 1 --exclude species --pca 3 --transform log:petal_length,petal_width;sqrt:sepal_width;log1p:sepal_length"
	walk := "level,other\n"
	for i := range 90 {
		walk += fmt.Sprintf("%d,%g\n", i/15%2*6+i*i%11, float64(i%7)/2)
	}
	write("walk.csv", walk)
	for _, shape := range strings.Fields("full tied diag spherical") {
		models["walk-"+shape] = "walk.csv -k 2 --model hmm --scale standard --covariance " + shape
	}
	list := ""
	for _, name := range slices.Sorted(maps.Keys(models)) {
		fit := models[name]
		table := strings.Fields(fit)[0]
		list += name + " " + table + "\n"
		succeeds(t, "fit "+fit+" --allow-unconverged -q -o "+name+".json")
		succeeds(t, "export "+name+".json -o "+name+".npz")
		succeeds(t, "export "+name+".json -o "+name+".array.json")
		succeeds(t, "label "+name+".json "+table+" --probabilities -o "+name+".csv")
		if !strings.Contains(fit, "kme") {
			succeeds(t, "score "+name+".json "+table+" -o "+name+".score.csv")
		}
	}
	write("models.txt", list)
	write("page.py", script+sameLabels)
	out, err := exec.Command(py, "page.py").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.Count(string(out), "same labels"); got != len(models) {
		t.Errorf("%d of %d models compared\n%s", got, len(models), out)
	}
}

// succeeds runs a command line that must succeed.
func succeeds(t *testing.T, line string) {
	t.Helper()
	var errw strings.Builder
	if status := run(context.Background(), strings.Fields(line), strings.NewReader(""), io.Discard, &errw); status != 0 {
		t.Fatalf("latent %s: exit status %d\n%s", line, status, errw.String())
	}
}

// An NPZ is a zip of NPY files, whose format is that of the numpy documentation (numpy.lib.format, version 1.0).
func TestNPZ(t *testing.T) {
	arrays := []model.Array{
		{Name: "name", Text: []string{"gmm"}},
		{Name: "columns", Shape: []int{2}, Text: []string{"é€", "a𝕏b"}},
		{Name: "none", Shape: []int{0}, Text: []string{}},
		{Name: "counts", Shape: []int{1}, Int: []int64{-2}},
		{Name: "cube", Shape: []int{1, 2, 1}, F64: []float64{0.5, -1e300}},
	}
	u32 := func(runes ...rune) (b []byte) {
		for _, r := range runes {
			b = append(b, byte(r), byte(r>>8), byte(r>>16), 0)
		}
		return b
	}
	want := []struct{ head, body string }{
		{"{'descr': '<U3', 'fortran_order': False, 'shape': (), }", string(u32('g', 'm', 'm'))},
		{"{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }", string(u32('é', '€', 0, 'a', '𝕏', 'b'))},
		{"{'descr': '<U1', 'fortran_order': False, 'shape': (0,), }", ""},
		{"{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", "\xfe\xff\xff\xff\xff\xff\xff\xff"},
		{"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 1), }", "\x00\x00\x00\x00\x00\x00\xe0\x3f" + "\x9c\x75\x00\x88\x3c\xe4\x37\xfe"},
	}
	var b bytes.Buffer
	if err := writeNPZ(&b, arrays); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(z.File) != len(want) {
		t.Fatalf("%d files, %v", len(z.File), err)
	}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		n := 10 + int(text[8]) + 256*int(text[9])
		if f.Name != arrays[i].Name+".npy" || string(text[:8]) != "\x93NUMPY\x01\x00" || n%64 != 0 || text[n-1] != '\n' ||
			strings.TrimRight(string(text[10:n-1]), " ") != want[i].head || string(text[n:]) != want[i].body {
			t.Errorf("%s is %q", f.Name, text)
		}
	}
}
