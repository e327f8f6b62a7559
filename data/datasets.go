package data

import (
	"bytes"
	"embed"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// The licences and credits of these files are in datasets/README.md and the NOTICE of the module.
//
//go:embed datasets/*.csv datasets/*.csv.gz
var datasetFiles embed.FS

// A Dataset is a table that comes with the program: "@iris" reads the one called iris.
type Dataset struct {
	Name    string // without the @
	About   string // one line
	Source  string // who measured and published it
	Licence string
	Truth   string // the column of known groups; "" without one
	Rows    int
	Columns int // all columns of the table, the truth and other labels included
	Missing int // empty cells, in all columns

	file        string
	notFeatures []string // columns that are no measurements, apart from the truth
}

const uciLicence = "CC BY 4.0, as the UCI Machine Learning Repository states; copied from scikit-learn (BSD-3-Clause)"

var datasetList = []Dataset{
	{
		Name: "iris", file: "iris.csv", Rows: 150, Columns: 5, Truth: "species",
		About:   "lengths and widths of sepals and petals of three species of iris, in cm",
		Source:  "R. A. Fisher, Annals of Eugenics 7 (1936)",
		Licence: "BSD-3-Clause, copied from scikit-learn; measurements published in 1936",
	},
	{
		Name: "faithful", file: "faithful.csv", Rows: 272, Columns: 2,
		About:   "eruptions of the geyser Old Faithful and the waiting time to the next, in minutes",
		Source:  "W. Härdle, Smoothing Techniques with Implementation in S (1991); A. Azzalini, A. W. Bowman, Applied Statistics 39 (1990)",
		Licence: "published measurements (facts)",
	},
	{
		Name: "wine", file: "wine.csv", Rows: 178, Columns: 14, Truth: "cultivar",
		About:   "chemical analysis of wines of three cultivars; the columns differ widely in scale",
		Source:  "M. Forina et al., PARVUS; S. Aeberhard et al. (1992); UCI Machine Learning Repository",
		Licence: uciLicence,
	},
	{
		Name: "wdbc", file: "wdbc.csv", Rows: 569, Columns: 31, Truth: "diagnosis",
		About:   "features of cell nuclei of breast tumours, benign or malignant (Wisconsin)",
		Source:  "W. N. Street, W. H. Wolberg, O. L. Mangasarian (1993); UCI Machine Learning Repository",
		Licence: uciLicence,
	},
	{
		Name: "diabetes", file: "diabetes.csv", Rows: 145, Columns: 4, Truth: "class",
		About:   "glucose and insulin of adults: normal, chemical or overt diabetes",
		Source:  "G. M. Reaven, R. G. Miller, Diabetologia 16 (1979)",
		Licence: "published measurements (facts)",
	},
	{
		Name: "digits", file: "digits.csv.gz", Rows: 1797, Columns: 65, Truth: "digit",
		About:   "handwritten digits of 8 x 8 pixels from 0 to 16; some pixels are constant",
		Source:  "E. Alpaydin, C. Kaynak (1998); UCI Machine Learning Repository, test part",
		Licence: uciLicence,
	},
	{
		Name: "penguins", file: "penguins.csv", Rows: 344, Columns: 8, Missing: 19, Truth: "species",
		notFeatures: []string{"island", "sex", "year"},
		About:       "sizes of penguins of three species of the Palmer Archipelago; some are missing",
		Source:      "K. B. Gorman, T. D. Williams, W. R. Fraser, PLoS ONE 9(3) (2014); A. Horst, A. Hill, K. Gorman, palmerpenguins (2020)",
		Licence:     "CC0",
	},
}

// Datasets lists the built-in tables.
func Datasets() []Dataset { return append([]Dataset(nil), datasetList...) }

// unpackedDigits is the one table that is stored compressed.
var unpackedDigits = sync.OnceValues(func() ([]byte, error) {
	packed, err := datasetFiles.ReadFile("datasets/digits.csv.gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
})

// dataset returns a built-in table as CSV text, which must not be changed, the column of known groups and the other
// columns that are no measurements. It is not ok for a name that is not on the list.
func dataset(name string) (b []byte, truth string, notFeatures []string, ok bool) {
	for _, d := range datasetList {
		if d.Name != name {
			continue
		}
		var err error
		if strings.HasSuffix(d.file, ".gz") {
			b, err = unpackedDigits()
		} else {
			b, err = datasetFiles.ReadFile("datasets/" + d.file)
		}
		return b, d.Truth, d.notFeatures, err == nil
	}
	return nil, "", nil, false
}
