package data

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	txt "github.com/latent-go/latent/internal/text"
)

// advise says what a reader should know of the columns, now that they are chosen: numbers that float64 does not hold or that
// were read in an unusual form, and columns that look like something else than measurements.
func (l *loader) advise() {
	l.adviseForms()
	if !l.explicit && !l.positional && !l.o.Categories {
		l.adviseNames()
	}
	if l.o.Mixed {
		l.adviseTexts()
	}
}

// adviseForms warns of numbers that were rounded, and says how points between thousands were read.
func (l *loader) adviseForms() {
	for c := range l.info.Columns {
		col, s := &l.info.Columns[c], &l.stats[c]
		used := col.Use == "feature" || col.Use == "weight"
		if s.rounded > 0 && (used || col.Why == whyLongID) {
			such := ""
			if v := s.firstRounded.Value; v != "" {
				such = " such as " + v
			}
			l.warn("column %q holds numbers beyond 2^53%s, whose last digits are lost: different ones may become equal%s", col.Name, such, l.longAdvice(col))
		}
		if s.grouped > 0 && used {
			v, _, _ := parseGrouped([]byte(strings.Trim(s.firstGrouped.Value, " \t\r\n")))
			l.warn("column %q has points between thousands: %q is read as %s", col.Name, s.firstGrouped.Value, floatText(v, 64))
		}
	}
}

// longAdvice says what to do about a column of long numbers.
func (l *loader) longAdvice(col *Column) string {
	name := txt.ShellWord(col.Name)
	switch {
	case col.Why == whyLongID:
		return "; it looks like an identifier and is left out"
	case col.Use != "feature":
		return ""
	case l.o.Exact != nil:
		return "; a model cannot tell them apart"
	}
	return fmt.Sprintf("; use --id %s if it names the rows, or --exclude %s", name, name)
}

// isLongID reports whether a column of whole numbers beyond 2^53 is one of identifiers rather than of measurements: by its
// name, or because its numbers run closely one after another (within a thousand for each row), or because they share no
// digits at all (they span more than half of the largest). Times in nanoseconds do neither.
func (l *loader) isLongID(c int) bool {
	s := &l.stats[c]
	if s.rounded == 0 || !s.integers {
		return false
	}
	span := s.max - s.min
	return namedLikeID(l.cols.names[c]) || span < 1000*float64(l.n) || span > math.Max(math.Abs(s.min), math.Abs(s.max))/2
}

// adviseNames warns of features whose names say that they are codes, identifiers or counts of rows.
func (l *loader) adviseNames() {
	var ids []string
	for _, c := range l.features {
		s, col := &l.stats[c], &l.info.Columns[c]
		switch {
		case col.Kind != "number" || s.n == 0 || l.isCategory(c):
		case s.rounded > 0: // warned of already
		case s.integers && namedLikeID(col.Name):
			ids = append(ids, col.Name)
		case l.weight < 0 && s.min >= 0 && (s.integers || namedLikeWeight(col.Name) == "weights") && namedLikeWeight(col.Name) != "":
			name := txt.ShellWord(col.Name)
			l.warn("column %q looks like %s of rows by its name, and is fitted; if it is, use --weight-column %s, or --exclude %s", col.Name, namedLikeWeight(col.Name), name, name)
		}
	}
	if len(ids) == 0 {
		return
	}
	id := ids[0]
	for _, name := range ids[1:] {
		if tokens := words(name); tokens[len(tokens)-1] == "id" {
			id = name
			break
		}
	}
	what := fmt.Sprintf("column %q looks like an identifier or a code by its name, and is", ids[0])
	if len(ids) > 1 {
		what = "columns " + quotedList(ids, 6) + " look like identifiers or codes by their names, and are"
	}
	l.warn("%s fitted as a measurement; use --exclude %s, or --id %s for one that names the rows", what, txt.ShellWord(strings.Join(ids, ",")), txt.ShellWord(id))
}

// quotedList writes names in quotes, the first of many.
func quotedList(names []string, most int) string {
	var b strings.Builder
	for i, n := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", n)
	}
	return b.String()
}

// words cuts a name at its signs and at its capitals, in lower case: CountyID and county_id are county and id. Never empty.
func words(name string) []string {
	var out []string
	var w []rune
	end := func() {
		if len(w) > 0 {
			out = append(out, strings.ToLower(string(w)))
			w = w[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])) {
			end()
		}
		w = append(w, r)
	}
	end()
	if out == nil {
		return []string{""}
	}
	return out
}

// idWords are the words in the name of a column that holds identifiers or codes, wherever they stand; lastIDWords mean
// that only at the end of a longer name.
var (
	idWords = wordSet("id ids key uuid guid zip zipcode postcode postal plz code codes fips ssn isbn sku ean upc barcode iban phone telephone " +
		"rowid rownum identifier serial")
	lastIDWords = wordSet("no nr num number index idx pk fk")
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// namedLikeID reports whether a name is one that people give to identifiers and codes.
func namedLikeID(name string) bool {
	w := words(name)
	for _, s := range w {
		if idWords[s] {
			return true
		}
	}
	return len(w) > 1 && lastIDWords[w[len(w)-1]] && w[0] != "num" && w[0] != "number"
}

// namedLikeWeight says what a name says that numbers are: "counts", "weights", or "" for neither.
func namedLikeWeight(name string) string {
	w := words(name)
	switch last := w[len(w)-1]; last {
	case "freq", "freqs", "frequency", "frequencies", "cnt", "multiplicity":
		return "counts"
	case "count", "counts", "nobs", "obs":
		if len(w) == 1 || last == "obs" || w[0] == "row" {
			return "counts"
		}
	case "n":
		if name == "n" { // N is nitrogen
			return "counts"
		}
	case "wt", "wts", "wgt", "weights", "fnlwgt", "pweight", "fweight":
		return "weights"
	case "weight":
		if len(w) > 1 && wordSet("sample survey case row obs observation person household design sampling")[w[0]] {
			return "weights"
		}
	}
	return ""
}

// whyText is the reason for which a column of text is left out, with what it looks like and what to do about that.
func (l *loader) whyText(c int) string {
	if k, ok := looksLike(l.stats[c].samples, l.decimal()); ok {
		return whyText + ": " + k.String()
	}
	return whyText
}

// howWritten says what a text looks like in which a number was expected; "" if it looks like nothing.
func (l *loader) howWritten(value string) string {
	k, ok := lookOf(value, l.decimal())
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (it looks like %s; %s)", k.what, k.advice)
}

// decimal is the decimal mark of the file.
func (l *loader) decimal() byte {
	if t := l.file.text; t != nil {
		return t.decimal
	}
	return '.'
}
