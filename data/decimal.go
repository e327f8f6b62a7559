package data

import (
	"fmt"
	"strconv"
	"strings"
)

// marks is what the cells of one column say about the decimal mark of the file.
type marks struct {
	filled, numbers int
	comma, point    string // the first cell that can only be read with this decimal mark; "" for none
	either          [2]string
}

// The two places of marks.either: the first cell with one comma, or one point, before its last three digits. 2.500 has
// decimals, or points between thousands.
const (
	eitherComma = iota
	eitherPoint
)

// look adds a cell.
func (m *marks) look(cell string, na *naTexts) {
	if na.has([]byte(cell)) {
		return
	}
	m.filled++
	first := func(s *string) {
		m.numbers++
		if *s == "" {
			*s = cell
		}
	}
	b := []byte(cell)
	_, points := groupedForm(b, '.', ',')
	_, commas := groupedForm(b, ',', '.')
	single := strings.Count(cell, ".")+strings.Count(cell, ",") == 1
	switch {
	case plainDecimal(b, 0):
		m.numbers++
	case points && single:
		first(&m.either[eitherPoint])
	case commas && single:
		first(&m.either[eitherComma])
	case points, plainDecimal(b, ','):
		first(&m.comma)
	case commas, plainDecimal(b, '.'):
		first(&m.point)
	}
}

// guessDecimal finds the decimal mark. One column of numbers that can only have commas (0,7) decides, however many have
// points that may stand between thousands; and the other way round. Notes say where columns differ in their mark. Where
// nothing decides, 2.500 has a decimal point and 2,500 a decimal comma, and a note says so unless that is the usual form
// of such files; a file with both kinds is refused.
func guessDecimal(name string, rows [][]string, delim byte, na *naTexts) (dec byte, notes []string, err error) {
	type place struct{ column, cell string }
	var comma, point place
	var either [2]place
	commas, points := 0, 0
	for j, m := range columnMarks(rows, na) {
		if m.numbers*2 < m.filled {
			continue // text
		}
		column := strconv.Itoa(j + 1)
		if c := rows[0][j]; c != "" && cellIsText(c, '.', na) && cellIsText(c, ',', na) {
			column = c
		}
		if m.comma != "" {
			if commas++; commas == 1 {
				comma = place{column, m.comma}
			}
		}
		if m.point != "" {
			if points++; points == 1 {
				point = place{column, m.point}
			}
		}
		for k, cell := range m.either {
			if cell != "" && either[k].cell == "" {
				either[k] = place{column, cell}
			}
		}
	}
	switch {
	case commas > 0 && points == 0:
		return ',', nil, nil
	case points > 0 && commas == 0:
		return '.', nil, nil
	case commas > 0:
		dec = '.'
		if commas > points || commas == points && delim == ';' {
			dec = ','
		}
		return dec, []string{fmt.Sprintf("the columns differ in their decimal mark: %q has points (%s), %q has commas (%s); read with decimal %q, so that the others are text; --decimal chooses",
			point.column, point.cell, comma.column, comma.cell, dec)}, nil
	}
	p, c := either[eitherPoint], either[eitherComma]
	doubt := func(m place, other string) []string {
		return []string{fmt.Sprintf("%s in column %q is read as decimals; if its mark stands between thousands, use --decimal %s", m.cell, m.column, other)}
	}
	switch {
	case delim == ',' || c.cell == "" && (p.cell == "" || delim != ';'):
		return '.', nil, nil // in a file with commas between its cells, quoted ones stand between thousands
	case c.cell == "":
		return '.', doubt(p, ","), nil
	case p.cell == "":
		return ',', doubt(c, "."), nil
	}
	return 0, nil, fileError(name, "the columns differ in their decimal mark, or have marks between thousands: %s in column %q, %s in column %q; use --decimal . or --decimal ,",
		p.cell, p.column, c.cell, c.column)
}

// columnMarks looks at the columns that every row has.
func columnMarks(rows [][]string, na *naTexts) []marks {
	if len(rows) == 0 {
		return nil
	}
	m := make([]marks, len(rows[0]))
	for _, r := range rows {
		for j := range min(len(m), len(r)) {
			m[j].look(r[j], na)
		}
	}
	return m
}

// hasCommas reports whether a cell holds a comma: in a file with commas between its cells, one in quotes.
func hasCommas(rows [][]string) bool {
	for _, r := range rows {
		for _, c := range r {
			if strings.Contains(c, ",") {
				return true
			}
		}
	}
	return false
}
