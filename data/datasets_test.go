package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"slices"
	"testing"
)

// TestDatasets compares the embedded files with what their sources say: shape, empty cells and checksum.
func TestDatasets(t *testing.T) {
	want := []struct {
		name, file, truth   string
		rows, cols, missing int
		notFeatures         []string
		sum                 string
	}{
		{"iris", "iris.csv", "species", 150, 5, 0, nil, "91eb642c3adbc7bad8e99c930c11fa3a5cc8a07262c7a753b4e6ecf405f2e05e"},
		{"faithful", "faithful.csv", "", 272, 2, 0, nil, "d40b983752ab7ec0b15b740089c3ca7b7b59d0c7433a029a1714d134de1e8d14"},
		{"wine", "wine.csv", "cultivar", 178, 14, 0, nil, "0b1878a85c7319cb85c8f5eed4731bac48b130b99bb19169c8ac7f55fbc984f7"},
		{"wdbc", "wdbc.csv", "diagnosis", 569, 31, 0, nil, "518936fa92ca3d8a78c420aee22030c4e519ffcba3be15dd23e83f2fc22e20e5"},
		{"diabetes", "diabetes.csv", "class", 145, 4, 0, nil, "7a9ce1e435f621ad117032f2e6fcaeb937cb135372392fbb1741dd3e0d9a6e62"},
		{"digits", "digits.csv.gz", "digit", 1797, 65, 0, nil, "0f622aac121cc3fc5d83397199887f8019d6db33381d033e73e300a2ce17c1ed"},
		{"penguins", "penguins.csv", "species", 344, 8, 19, []string{"island", "sex", "year"}, "1867a776a83379df4219f227bb1effb967da12adb13732127c8c8d120434c29b"},
	}
	list := Datasets()
	if len(list) != len(want) {
		t.Fatalf("%d sets, want %d", len(list), len(want))
	}
	for i, w := range want {
		d := list[i]
		if d.Name != w.name || d.Rows != w.rows || d.Columns != w.cols || d.Missing != w.missing || d.Truth != w.truth ||
			d.About == "" || d.Source == "" || d.Licence == "" {
			t.Errorf("%s is described as %+v", w.name, d)
		}
		file, err := datasetFiles.ReadFile("datasets/" + w.file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != w.sum {
			t.Errorf("%s is not the file that SOURCES names", w.file)
		}
		b, truth, notFeatures, ok := dataset(w.name)
		if !ok || truth != w.truth || !slices.Equal(notFeatures, w.notFeatures) {
			t.Fatalf("%s: %v, truth %q, not features %q", w.name, ok, truth, notFeatures)
		}
		records, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		missing := 0
		for _, r := range records[1:] {
			for _, cell := range r {
				if cell == "" {
					missing++
				}
			}
		}
		if len(records)-1 != w.rows || len(records[0]) != w.cols || missing != w.missing {
			t.Errorf("%s: %d x %d with %d missing", w.name, len(records)-1, len(records[0]), missing)
		}
		for _, name := range append(slices.Clone(notFeatures), truth) {
			if name != "" && !slices.Contains(records[0], name) {
				t.Errorf("%s has no column %q", w.name, name)
			}
		}
	}
	if _, _, _, ok := dataset("Iris"); ok {
		t.Error("a name that is not on the list is found")
	}
	list[0].Name = "x"
	if Datasets()[0].Name != "iris" {
		t.Error("Datasets hands out its own list")
	}
}
