package main

import (
	"slices"

	"github.com/latent-go/latent/data"
)

// leading says which cells come before the new ones in a line of output: the whole row of the input, its id, or its
// number.
type leading struct {
	id      string   // name of the id column; empty means row numbers
	columns []string // names of all columns of the input, where they pass through
}

func (a *applyFlags) leading() leading {
	l := leading{id: a.data.ID}
	if a.all {
		l.columns = a.columns
	}
	return l
}

// with returns the columns of the output: the leading ones and then cols, renamed where a name is taken.
func (l leading) with(cols ...data.OutColumn) []data.OutColumn {
	var out []data.OutColumn
	switch {
	case l.columns != nil:
		for _, name := range l.columns {
			out = append(out, data.OutColumn{Name: name, Kind: data.Text})
		}
	case l.id != "":
		out = append(out, data.OutColumn{Name: l.id, Kind: data.Text})
	default:
		out = append(out, data.OutColumn{Name: "row", Kind: data.Int})
	}
	for _, c := range cols {
		c.Name = fresh(c.Name, l.columns)
		out = append(out, c)
	}
	return out
}

// width returns how many leading cells a row has.
func (l leading) width() int { return max(len(l.columns), 1) }

// put writes the leading cells of row i.
func (l leading) put(out *data.Out, b *data.Block, i int) {
	switch {
	case l.columns != nil:
		for _, cell := range b.Cells[i*len(l.columns) : (i+1)*len(l.columns)] {
			out.Text(cell)
		}
	case b.ID != nil:
		out.Text(b.ID[i])
	case b.Row != nil:
		out.Int(b.Row[i])
	default:
		out.Int(b.First + int64(i) + 1)
	}
}

// fresh returns name, with _ added until it is none of those taken.
func fresh(name string, taken []string) string {
	for slices.Contains(taken, name) {
		name += "_"
	}
	return name
}
