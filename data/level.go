package data

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// maxLevels is how many levels a column of categories may have. A model holds a probability for each of them in every
// component; columns with more are names or measurements rather than categories.
const maxLevels = 10_000

// dictionary is what stands in one column of categories: every different text, and what it means.
//
// While it is open, workers add to it. The numbers of its words then depend on their timing, and no result may: levels
// are ordered by what they are when it is settled.
type dictionary struct {
	decimal byte
	na      *naTexts
	numeric bool        // its cells are numbers by their type, and compared as such with na
	isText  bool        // its cells are text by their type, even if one looks like a number
	known   *levelSet   // where set, no word is learnt whose level is not in it
	unseen  atomic.Bool // there was one
	full    atomic.Bool // there are more than maxLevels words; the rest is not in it

	mu      sync.Mutex
	at      map[string]int // text -> index in words
	words   []word
	settled bool
}

// word is one text in a column of categories.
type word struct {
	text  string
	value float64  // the number that it spells; NaN for none
	kind  cellKind // what it is, if no number
	code  float64  // its index in dictionary.words, then that of its level; NaN for a missing cell
}

// isMissing reports whether it stands for no value.
func (w *word) isMissing() bool { return w.kind == missingCell && w.value != w.value }

// read says what a text is, apart from its code.
func (d *dictionary) read(text string) word {
	v, kind, ok := classify([]byte(strings.Trim(text, " \t\r\n")), d.decimal, d.na)
	if ok && d.numeric && d.na.hasNumber(v) {
		return word{text: text, value: math.NaN(), kind: missingCell, code: math.NaN()}
	}
	if kind != missingCell && d.isText || ok && d.isText {
		v, kind = math.NaN(), textCell
	}
	return word{text: text, value: v, kind: kind, code: math.NaN()}
}

// learn returns the word of a text, and adds it if it is new and there is room.
func (d *dictionary) learn(text string) word {
	w := d.read(text)
	if w.isMissing() || d.full.Load() {
		return w
	}
	if d.known != nil {
		if _, ok := d.known.find(&w); !ok {
			d.unseen.Store(true)
			return w
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i, ok := d.at[text]; ok {
		return d.words[i]
	}
	if len(d.words) == maxLevels {
		d.full.Store(true)
		return w
	}
	w.text, w.code = strings.Clone(text), float64(len(d.words)) // text is part of a batch
	d.at[w.text] = len(d.words)
	d.words = append(d.words, w)
	return w
}

// levels orders the words for which keep is true (nil: all of them).
func (d *dictionary) levels(keep []bool) *levelSet {
	s := &levelSet{numbers: true}
	var words []word
	for i, w := range d.words {
		if keep == nil || keep[i] {
			words = append(words, w)
			s.numbers = s.numbers && w.value == w.value
		}
	}
	slices.SortFunc(words, func(a, b word) int {
		if s.numbers && a.value != b.value {
			return cmp.Compare(a.value, b.value)
		}
		return cmp.Compare(s.name(&a), s.name(&b))
	})
	for i := range words {
		if name := s.name(&words[i]); len(s.names) == 0 || s.names[len(s.names)-1] != name {
			s.names = append(s.names, name)
		}
	}
	s.index()
	return s
}

// settle gives every word the index of its level; NaN where it has none.
func (d *dictionary) settle(s *levelSet) {
	for i := range d.words {
		d.words[i].code = math.NaN()
		if l, ok := s.find(&d.words[i]); ok {
			d.words[i].code = float64(l)
		}
	}
	d.settled = true
}

// levelSet is the levels of one column, in order.
//
// Where every level is a finite number they are in numeric order, equal numbers are one level (1, 1.0 and 01), and the
// name is the shortest text of the number. Otherwise levels are texts as they stand, in the order of their bytes.
type levelSet struct {
	names   []string
	numbers bool
	at      map[string]int // name -> index
}

// givenLevels are the levels that a model knows. Numbers among them may be written in any way.
func givenLevels(names []string) *levelSet {
	s := &levelSet{names: names, numbers: true}
	words := make([]word, len(names))
	plain := dictionary{decimal: '.'}
	for i, n := range names {
		words[i] = plain.read(n)
		s.numbers = s.numbers && words[i].value == words[i].value
	}
	s.index()
	for i := range words {
		if _, ok := s.at[s.name(&words[i])]; !ok {
			s.at[s.name(&words[i])] = i
		}
	}
	return s
}

func (s *levelSet) index() {
	s.at = make(map[string]int, len(s.names))
	for i, n := range s.names {
		s.at[n] = i
	}
}

// name is what the level of a word is called.
func (s *levelSet) name(w *word) string {
	if s.numbers && w.value == w.value {
		return numberName(w.text, w.value)
	}
	return validText(w.text)
}

// find returns the level of a word.
func (s *levelSet) find(w *word) (int, bool) {
	i, ok := s.at[validText(w.text)]
	if !ok {
		i, ok = s.at[s.name(w)]
	}
	return i, ok
}

// list names the levels, the first eight of many.
func (s *levelSet) list() string {
	const show = 8
	var b strings.Builder
	for i, n := range s.names {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == show && len(s.names) > show+1 {
			b.WriteString("...")
			break
		}
		if n = cut(n); strings.ContainsFunc(n, unicode.IsControl) {
			n = strconv.Quote(n) // a message is one line
		}
		b.WriteString(n)
	}
	return b.String()
}

// numberName is the shortest text of a number. Whole numbers that float64 cannot tell apart keep their digits.
func numberName(text string, v float64) string {
	switch a := math.Abs(v); {
	case a < 1<<53 && v == math.Trunc(v):
		return strconv.FormatInt(int64(v), 10)
	case a >= 1<<53:
		digits := strings.TrimLeft(strings.Trim(text, " \t\r\n"), "+-")
		if strings.Trim(digits, "0123456789") == "" {
			digits = strings.TrimLeft(digits, "0")
			if v < 0 {
				digits = "-" + digits
			}
			return digits
		}
	}
	return floatText(v, 64)
}

// validText returns text as UTF-8: what is not is taken for Latin-1, so that it can be printed and stored.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
