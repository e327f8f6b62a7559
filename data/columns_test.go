package data

import (
	"fmt"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	s := newColumnSet("f.csv", []string{"sepal_length", "sepal_width", "width, cm", "a-b", "x", "y*", "z"})
	for _, c := range []struct{ list, want string }{
		{"x", "[4]"}, {"z,x", "[6 4]"}, {"sepal_*", "[0 1]"}, {"x-z", "[4 5 6]"}, {"1-3", "[0 1 2]"}, {"7", "[6]"},
		{"/^sepal_(l|w)/", "[0 1]"}, {"/^.{1,2}$/", "[4 5 6]"}, {"width, cm", "[2]"}, {"x,width, cm,z", "[4 2 6]"},
		{"a-b", "[3]"}, {"a-b-z", "[3 4 5 6]"}, {"y*", "[5]"}, {"?", "[4 6]"}, {"x,x,1-2", "[4 0 1]"}, {"sepal_width-a-b", "[1 2 3]"},
		{"y", `column "y" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"q*", `column "q*" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"X", `column "X" is not in f.csv; "x" differs from it in upper and lower case only; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"X-z", `column "X-z" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{" x", "[4]"}, {"x\u00a0", "[4]"}, {"\u200bx , z", "[4 6]"},
		{"8", `column "8" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"z-x", `columns z-x: "z" comes after "x" in f.csv`},
		{"/(/", "columns /(/: error parsing regexp: missing closing ): `(`"},
	} {
		got, err := s.match([]string{c.list})
		out := fmt.Sprint(got)
		if err != nil {
			out = err.Error()
		}
		if out != c.want {
			t.Errorf("%s: got %s, want %s", c.list, out, c.want)
		}
	}
}

// TestNamesInOtherCase: several names that differ in case alone are told of in the plural.
func TestNamesInOtherCase(t *testing.T) {
	_, err := newColumnSet("f.csv", []string{"Age", "age", "y"}).match([]string{"AGE"})
	if want := `column "AGE" is not in f.csv; "Age", "age" differ from it in upper and lower case only; its columns are: Age, age, y`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestUnknownColumnNamesTheNearest(t *testing.T) {
	names := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda")
	_, err := newColumnSet("f.csv", names).match([]string{"Thetta"})
	want := `column "Thetta" is not in f.csv; the nearest names are: theta, `
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), ", ") != 7 {
		t.Errorf("got %v", err)
	}
}

func TestColumnNamesAreDistinct(t *testing.T) {
	s := newColumnSet("f.csv", []string{"a", "a", "a_2", "", "", "a"})
	if got := fmt.Sprint(s.names); got != "[a a_3 a_2 unnamed unnamed_2 a_4]" {
		t.Errorf("got %s", got)
	}
	if len(s.notes) != 2 || s.notes[0] != `column 2 is called "a" like another one before it; it is read as "a_3"` {
		t.Errorf("notes: %q", s.notes)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func FuzzColumns(f *testing.F) {
	for _, s := range []string{"a", "a-c", "1-2", "/a|b/", "*", "a,b", ",", "-", "//", "a-", "/", "0-9", "?*", "99999999999999999999-1"} {
		f.Add(s, "a,b c,d-e")
	}
	f.Fuzz(func(t *testing.T, list, header string) {
		s := newColumnSet("f.csv", strings.Split(header, ","))
		if len(s.at) != len(s.names) {
			t.Fatalf("names are not distinct: %q", s.names)
		}
		cols, err := s.match([]string{list})
		if err == nil && len(cols) == 0 {
			t.Fatal("no columns and no error")
		}
		for _, c := range cols {
			if c < 0 || c >= len(s.names) {
				t.Fatalf("column %d of %d", c, len(s.names))
			}
		}
		if _, ok := s.at[list]; ok && (err != nil || len(cols) != 1 || s.names[cols[0]] != list) {
			t.Fatalf("an exact name gave %v, %v", cols, err)
		}
	})
}

// TestNamesThatHideSomething: what nobody sees is no part of a name, and it is said.
func TestNamesThatHideSomething(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"a", "a"}, {"a b", "a b"}, {"größe", "größe"}, {" a ", "a"}, {"\ta", "a"}, {"a\u00a0", "a"}, {"\u200ba\u200b", "a"}, {"\ufeffa", "a"}, {"a\u00a0b", "a b"},
		{"a\u200bb", "ab"}, {"co\u00adop", "coop"}, {"width\r\n(cm)", "width (cm)"}, {"a  b", "a  b"}, {"a\x1fb", "a b"}, {"می\u200cخواهم", "می\u200cخواهم"}, {"\u200e", ""}, {"\u3000x", "x"},
	} {
		s := newColumnSet("f.csv", []string{c.name, "other"})
		want := c.want
		if want == "" {
			want = "unnamed"
		}
		if s.names[0] != want || (len(s.notes) == 1) != (c.name != c.want) {
			t.Errorf("%+q is read as %+q with notes %q, want %+q", c.name, s.names[0], s.notes, want)
		}
		for _, typed := range []string{c.name, want, want + " ", "\u00a0" + want} { // however it is typed, it is met
			if i, err := s.find(typed); c.want != "" && (err != nil || i != 0) {
				t.Errorf("%+q does not find %+q: %v", typed, c.name, err)
			}
		}
	}
	s := newColumnSet("f.csv", []string{"x", "x\u00a0", "\ufeffx"})
	if got := fmt.Sprint(s.names); got != "[x x_2 x_3]" || len(s.notes) != 4 {
		t.Errorf("names %s, notes %q", got, s.notes)
	}
	if got := fmt.Sprint(newColumnSet("f.csv", []string{"\u00a0x", "x"}).names); got != "[x_2 x]" {
		t.Errorf("the plain name gives way: %s", got)
	}
	if !strings.Contains(s.notes[0], `column 2 ("x\u00a0") holds blanks`) {
		t.Errorf("note %q", s.notes[0])
	}
}

// TestModelMeetsHiddenNames: a model and a file whose names differ in what nobody sees belong together, those that differ in
// case do not.
func TestModelMeetsHiddenNames(t *testing.T) {
	src, _, err := Load(t.Context(), write(t, "t.csv", "\"b\u00a0\",\"a \"\n1,2\n3,4\n"), Options{Exact: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := src.(*Table); got.At(0, 0) != 2 || got.At(1, 1) != 3 {
		t.Errorf("got %v", got.F64)
	}
	_, _, err = Load(t.Context(), write(t, "t.csv", "A,b\n1,2\n"), Options{Exact: []string{"a", "b"}})
	if err == nil || !strings.Contains(err.Error(), `"A" differs from it in upper and lower case only`) {
		t.Errorf("got %v", err)
	}
	if _, _, err = Load(t.Context(), write(t, "t.csv", "a,b\n1,2\n"), Options{Exact: []string{"a", "a "}}); err == nil {
		t.Error("one column was taken twice")
	}
}
