package studio

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/rng"
)

// labTables are the tables of the lab that are made, by the name of their case.
var labTables = map[string]func() [][]float64{
	"tolerance-trap": func() [][]float64 { return shifted(2, 52, 400, 0.7, 1.5) },
	"spike":          spiked,
	"long-clusters":  long,
	"unbalanced":     func() [][]float64 { return shifted(11, 12, 2000, 0.98, 2.5) },
}

// shifted returns pairs of normal values, moved along both axes where a uniform value is at least from.
func shifted(seed, by uint64, n int, from, move float64) [][]float64 {
	z, u := rng.Normals(seed, 2*n), rng.Uniforms(by, n)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{z[2*i], z[2*i+1]}
		if u[i] >= from {
			rows[i][0] += move
			rows[i][1] += move
		}
	}
	return rows
}

// spiked returns two groups and three rows in one place.
func spiked() [][]float64 {
	z := rng.Normals(77, 160)
	rows := make([][]float64, 80)
	for i := range rows {
		rows[i] = []float64{z[2*i], z[2*i+1]}
		if i%2 == 0 {
			rows[i][0] += 4
		}
	}
	for _, i := range []int{3, 5, 7} {
		rows[i] = []float64{1.5, 2.5}
	}
	return rows
}

// long returns two groups that are long in x and lie side by side in y: even rows are the upper one.
func long() [][]float64 {
	z := rng.Normals(7, 800)
	rows := make([][]float64, 400)
	for i := range rows {
		rows[i] = []float64{6 * z[2*i], 0.5 * z[2*i+1]}
		if i%2 == 0 {
			rows[i][1] += 3
		}
	}
	return rows
}

// labPrefix is what the tables of the lab are called by, before the name of their case.
const labPrefix = "@lab-"

// labTable returns where a table of the lab lies, which is written when it is first asked for; "" for no such table. known adds a column that
// tells the group of each row of long-clusters.
func (s *Studio) labTable(name string, known bool) (path, folder string, err error) {
	rows, there := labTables[name]
	if !there {
		return "", "", nil
	}
	s.labs.Lock()
	defer s.labs.Unlock()
	folder = filepath.Join(s.Folder, "lab")
	path = filepath.Join(folder, name+".csv")
	if known {
		path = filepath.Join(folder, name+"-known.csv")
	}
	if _, err := os.Stat(path); err == nil {
		return path, folder, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", "", err
	}
	var b strings.Builder
	b.WriteString("x,y")
	if known {
		b.WriteString(",group")
	}
	for i, row := range rows() {
		b.WriteString("\n" + strconv.FormatFloat(row[0], 'f', 4, 64) + "," + strconv.FormatFloat(row[1], 'f', 4, 64))
		if known {
			b.WriteString("," + []string{"upper", "lower"}[i%2])
		}
	}
	b.WriteString("\n")
	if err = os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		os.Remove(path) // half of it would be taken for all
	}
	return path, folder, err
}
