package data

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// columnSet is the columns of a file under names that are all different.
type columnSet struct {
	file    string
	names   []string
	unnamed []bool // the header had no name here
	at      map[string]int
	notes   []string
}

// newColumnSet gives every column a name of its own, without blanks and characters at its ends that nobody sees: the
// second x is x_2, one without a name is unnamed.
func newColumnSet(file string, names []string) *columnSet {
	s := &columnSet{file: file, names: make([]string, len(names)), unnamed: make([]bool, len(names)), at: make(map[string]int, len(names))}
	raw := names
	names, s.notes = cleanNames(raw)
	taken := make(map[string]bool, len(names))
	for _, n := range names {
		taken[n] = true
	}
	next := map[string]int{} // the number to try next for a name that is there already
	var order []int          // names that nothing was taken from keep what they are
	for _, altered := range []bool{false, true} {
		for i := range names {
			if (names[i] != raw[i]) == altered {
				order = append(order, i)
			}
		}
	}
	for _, i := range order {
		n := names[i]
		s.unnamed[i] = n == ""
		if n == "" {
			n = "unnamed"
		}
		if _, again := s.at[n]; again {
			old, k := n, max(2, next[n])
			for taken[n] {
				n = fmt.Sprintf("%s_%d", old, k)
				k++
			}
			next[old] = k
			if !s.unnamed[i] {
				where := " before it"
				if names[i] != raw[i] {
					where = ""
				}
				s.notes = append(s.notes, fmt.Sprintf("column %d is called %q like another one%s; it is read as %q", i+1, old, where, n))
			}
		}
		taken[n] = true
		s.names[i], s.at[n] = n, i
	}
	return s
}

// find returns the column of this name.
func (s *columnSet) find(name string) (int, error) {
	if i, ok := s.lookUp(name); ok {
		return i, nil
	}
	return 0, s.unknown(name)
}

// lookUp returns the column of this name; blanks and characters in it that nobody sees do not count.
func (s *columnSet) lookUp(name string) (int, bool) {
	i, ok := s.at[name]
	if !ok {
		i, ok = s.at[cleanName(name)]
	}
	return i, ok
}

// unknown is the error for a name that is not there: it lists the nearest ones that are.
func (s *columnSet) unknown(name string) error {
	const show = 8
	near, lead := s.names, "its columns are: "
	if len(near) > show {
		lead = "the nearest names are: "
		near = Nearest(name, near, show)
	}
	if len(near) == 0 {
		return fileError("", "column %q is not in %s, which has no columns", name, s.file)
	}
	if same := otherCase(name, s.names); len(same) > 0 {
		differ := " differs"
		if len(same) > 1 {
			differ = " differ"
		}
		lead = quotedList(same, show) + differ + " from it in upper and lower case only; " + lead
	}
	return fileError("", "column %q is not in %s; %s%s", name, s.file, lead, strings.Join(near, ", "))
}

// match returns the columns that the items of a list mean, each once, in the order of the list. An item is a name, a
// glob, a range a-d or 1-4, a /regex/, or several of them with commas between; a name that looks like one of the
// others is tried first.
func (s *columnSet) match(list []string) ([]int, error) {
	var out []int
	seen := make([]bool, len(s.names))
	for _, item := range list {
		parts := s.split(item)
		for _, part := range parts {
			cols, err := s.item(part)
			if err != nil {
				return nil, err
			}
			for _, c := range cols {
				if !seen[c] {
					seen[c] = true
					out = append(out, c)
				}
			}
		}
	}
	return out, nil
}

// split cuts a list at its commas, except those inside a name or a /regex/.
func (s *columnSet) split(list string) []string {
	if _, ok := s.lookUp(list); ok {
		return []string{list}
	}
	pieces := strings.Split(list, ",")
	var out []string
	for i := 0; i < len(pieces); {
		n := 1
		first := strings.TrimSpace(pieces[i])
		for k := min(len(pieces), i+16); k > i+1; k-- { // the longest name that starts here
			joined := strings.TrimSpace(strings.Join(pieces[i:k], ","))
			_, isName := s.lookUp(joined)
			isRegex := strings.HasPrefix(joined, "/") && len(joined) > 1 && strings.HasSuffix(joined, "/") && !(len(first) > 1 && strings.HasSuffix(first, "/"))
			if isName || isRegex {
				n = k - i
				break
			}
		}
		out = append(out, strings.TrimSpace(strings.Join(pieces[i:i+n], ",")))
		i += n
	}
	return out
}

// item returns the columns that one item means; none is an error.
func (s *columnSet) item(item string) ([]int, error) {
	if i, ok := s.lookUp(item); ok {
		return []int{i}, nil
	}
	if len(item) > 1 && strings.HasPrefix(item, "/") && strings.HasSuffix(item, "/") {
		re, err := regexp.Compile(item[1 : len(item)-1])
		if err != nil {
			return nil, fileError("", "columns %s: %v", item, err)
		}
		return s.matching(re, item)
	}
	if strings.ContainsAny(item, "*?") {
		glob := regexp.QuoteMeta(item)
		glob = strings.ReplaceAll(strings.ReplaceAll(glob, `\*`, `.*`), `\?`, `.`)
		re, err := regexp.Compile(`(?s)\A` + glob + `\z`)
		if err != nil {
			return nil, fileError("", "columns %s: %v", item, err)
		}
		return s.matching(re, item)
	}
	if lo, hi, ok := s.span(item); ok {
		if lo > hi {
			return nil, fileError("", "columns %s: %q comes after %q in %s", item, s.names[lo], s.names[hi], s.file)
		}
		var out []int
		for i := lo; i <= hi; i++ {
			out = append(out, i)
		}
		return out, nil
	}
	return nil, s.unknown(item)
}

// span reads a range: two names or two positions with a dash between.
func (s *columnSet) span(item string) (lo, hi int, ok bool) {
	for i := range len(item) {
		if item[i] != '-' {
			continue
		}
		a, okA := s.lookUp(item[:i])
		b, okB := s.lookUp(item[i+1:])
		if okA && okB {
			return a, b, true
		}
	}
	left, right, found := strings.Cut(item, "-")
	if !found {
		right = left
	}
	a, errA := strconv.Atoi(strings.TrimSpace(left))
	b, errB := strconv.Atoi(strings.TrimSpace(right))
	if errA != nil || errB != nil || a < 1 || b < 1 || a > len(s.names) || b > len(s.names) {
		return 0, 0, false
	}
	return a - 1, b - 1, true
}

func (s *columnSet) matching(re *regexp.Regexp, item string) ([]int, error) {
	var out []int
	for i, n := range s.names {
		if re.MatchString(n) {
			out = append(out, i)
		}
	}
	if out == nil {
		return nil, s.unknown(item)
	}
	return out, nil
}

// Nearest returns the n names with the smallest edit distance, nearest first.
func Nearest(name string, names []string, n int) []string {
	type near struct{ at, distance int }
	all := make([]near, len(names))
	for i, c := range names {
		all[i] = near{i, editDistance(strings.ToLower(name), strings.ToLower(c))}
	}
	slices.SortStableFunc(all, func(a, b near) int { return a.distance - b.distance })
	var out []string
	for _, a := range all[:min(n, len(all))] {
		out = append(out, names[a.at])
	}
	return out
}

// editDistance counts the insertions, deletions and replacements of bytes that turn a into b (Levenshtein).
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, corner+cost)
		}
	}
	return row[len(b)]
}
