package data

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A list of changes is read as it is written, and what is wrong with one is said.
func TestChangesAreRead(t *testing.T) {
	t.Parallel()
	list, err := ParseChanges(`log:price, area; log1p:visits;sqrt:"a, b; c" ; date:when; geo:lat,lon;`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{Kind: "log", Columns: []string{"price", "area"}}, {Kind: "log1p", Columns: []string{"visits"}},
		{Kind: "sqrt", Columns: []string{"a, b; c"}}, {Kind: "date", Columns: []string{"when"}}, {Kind: "geo", Columns: []string{"lat", "lon"}}}
	if len(list) != len(want) {
		t.Fatalf("%d changes, want %d", len(list), len(want))
	}
	for i := range want {
		if list[i].Kind != want[i].Kind || strings.Join(list[i].Columns, "|") != strings.Join(want[i].Columns, "|") {
			t.Errorf("number %d is %v, want %v", i, list[i], want[i])
		}
	}
	for text, says := range map[string]string{
		"": "is empty", "price": "not a scale", "ln:price": "choose one of log,", "log:": "names no column", "log:a,,b": "not a list",
		"log:a; sqrt:a": `"a" twice`, "log:a,a": `"a" twice`, "geo:lat": "two columns", "geo:a,b,c": "two columns",
	} {
		if _, err := ParseChanges(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: the error is %v, want one that says %q", text, err, says)
		}
	}
}

// FuzzParseChanges: what is read can be bound to its own columns.
func FuzzParseChanges(f *testing.F) {
	for _, s := range []string{"log:price,area; log1p:visits", `sqrt:"a,b"`, "geo:lat,lon", "date:when;", ";;", `log:"`, "log:a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParseChanges(s)
		if err != nil {
			return
		}
		var columns []string
		for _, c := range list {
			columns = append(columns, c.Columns...)
		}
		c, err := Bind(list, columns)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		seen := map[string]bool{}
		for _, name := range c.Names() {
			if seen[name] {
				t.Errorf("%q: the name %q is there twice", s, name)
			}
			seen[name] = true
		}
	})
}

// Each scale and its inverse cancel, and its slope is that of differences.
func TestScalesAndTheirSlopes(t *testing.T) {
	t.Parallel()
	for kind, values := range map[string][]float64{"log": {1e-9, 0.3, 1, 7, 1e12}, "log1p": {-0.9, 0, 1e-9, 3, 1e6}, "sqrt": {1e-6, 0.25, 2, 1e8}, "logit": {1e-6, 0.2, 0.5, 0.999}} {
		c, err := Bind([]Change{{Kind: kind, Columns: []string{"v"}}}, []string{"u", "v"})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			at := func(v float64) float64 {
				y := make([]float64, 2)
				if err := c.Row(y, []float64{5, v}); err != nil {
					t.Fatalf("%s of %v: %v", kind, v, err)
				}
				return y[1]
			}
			x := make([]float64, 2)
			c.Back(x, []float64{5, at(v)})
			if x[0] != 5 || math.Abs(x[1]-v) > 1e-12*math.Abs(v)+1e-16 {
				t.Errorf("%s of %v goes back to %v", kind, v, x)
			}
			// Distances to the nearer end of the range: there a slope changes fastest.
			h := 1e-4 * min(math.Abs(v)+map[bool]float64{true: 1}[kind == "log1p" && v >= 0], map[string]float64{"logit": 1 - v, "log1p": 1 + v}[kind]+map[bool]float64{true: math.Inf(1)}[kind == "log" || kind == "sqrt"])
			slope := (at(v+h) - at(v-h)) / (2 * h)
			if got := c.LogSlope([]float64{5, v}); math.Abs(got-math.Log(slope)) > 1e-5 {
				t.Errorf("%s at %v has the logarithm of its slope %v, by differences %v", kind, v, got, math.Log(slope))
			}
			if got := c.Spread(1, []float64{5, at(v)}); math.Abs(got*slope-1) > 1e-5 {
				t.Errorf("%s at %v: a difference counts %v, by differences %v", kind, v, got, 1/slope)
			}
		}
	}
}

// A cell that a scale does not take is an error with row, column and value; a missing one stays missing.
func TestCellsThatNoScaleTakes(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, x := range []struct {
		kind string
		bad  float64
		says string
	}{{"log", 0, "log takes"}, {"log", -2, "log takes"}, {"log1p", -1, "above -1"}, {"sqrt", -1e-9, "below 0"}, {"logit", 0, "between 0 and 1"}, {"logit", 1, "between 0 and 1"}} {
		c, _ := Bind([]Change{{Kind: x.kind, Columns: []string{"v"}}}, []string{"v"})
		src := c.Rows(&Table{N: 3, D: 1, F64: []float64{0.5, nan, x.bad}, Row: []int64{4, 5, 9}})
		r, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var b Block
		if err := r.Read(&b, 2); err != nil || b.At(1, 0) == b.At(1, 0) {
			t.Errorf("%s: %v, and a missing cell becomes %v", x.kind, err, b.At(1, 0))
		}
		err = r.Read(&b, 2)
		var cell *CellError
		if !errors.As(err, &cell) || cell.Row != 9 || cell.Column != "v" || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s of %v: the error is %v", x.kind, x.bad, err)
		}
	}
	c, _ := Bind([]Change{{Kind: "geo", Columns: []string{"lat", "lon"}}}, []string{"lon", "w", "lat"})
	for _, x := range []struct {
		lat, lon float64
		says     string
	}{{91, 0, "no latitude"}, {0, 361, "no longitude"}, {0, -181, "no longitude"}, {nan, 4, "without a latitude"}, {4, nan, "without a longitude"}} {
		if err := c.Row(make([]float64, 4), []float64{x.lon, 0, x.lat}); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%v, %v: the error is %v", x.lat, x.lon, err)
		}
	}
}

// A place is the point of the unit sphere, by the formulas of the atlas, and the direction of a point is told in degrees.
func TestPlaces(t *testing.T) {
	t.Parallel()
	c, err := Bind([]Change{{Kind: "geo", Columns: []string{"lat", "lon"}}}, []string{"a", "lon", "b", "lat"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Names(), "|"); got != "a|x of lat,lon|y of lat,lon|z of lat,lon|b" {
		t.Errorf("the columns are %s", got)
	}
	for _, x := range []struct{ lat, lon, x, y, z, back float64 }{
		{0, 0, 1, 0, 0, 0}, {0, 90, 0, 1, 0, 90}, {90, 0, 0, 0, 1, 0}, {0, 270, 0, -1, 0, -90}, {30, 180, -math.Sqrt(3) / 2, 0, 0.5, 180}, {-45, -45, 0.5, -0.5, -math.Sqrt2 / 2, -45},
	} {
		y, back := make([]float64, 5), make([]float64, 4)
		if err := c.Row(y, []float64{7, x.lon, 8, x.lat}); err != nil {
			t.Fatal(err)
		}
		for j, want := range []float64{7, x.x, x.y, x.z, 8} {
			if math.Abs(y[j]-want) > 1e-15 {
				t.Errorf("%v, %v becomes %v", x.lat, x.lon, y)
			}
		}
		c.Back(back, y)
		if math.Abs(back[3]-x.lat) > 1e-12 || math.Abs(back[1]-x.back) > 1e-12 || back[0] != 7 || back[2] != 8 {
			t.Errorf("%v, %v goes back to %v", x.lat, x.lon, back)
		}
	}
}

// Days are those of the calendar, by the count of people: 365 days a year and a leap day in 1972.
func TestDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"1970-01-01": 0, "1970-1-2": 1, "1969-12-31": -1, "1973-01-01": 3*365 + 1, "1973-01": 3*365 + 1, "19730101": 3*365 + 1, "1.1.1973": 3*365 + 1, "1 Jan 1973": 3*365 + 1, "January 1, 1973": 3*365 + 1,
		"1970-01-02T12:00:00Z": 1.5, "1970-01-02 06:00": 1.25, "1970-01-02T12:00:00+12:00": 1, "1970-01-02T00:00:43.2": 1.0005, "1970-032": 31, "19700102T120000Z": 1.5,
		"Jan 2 1970": 1, "Fri, 2 Jan 1970 12:00:00 GMT": 1.5, "Friday, January 2, 1970": 1, "Fri Jan  2 12:00:00 1970": 1.5, "Fri 1970-01-02": 1, "1970/2": 31, "02/1970": 31, "February 1970": 31, "Feb-1970": 31,
		"2. Januar 1970": 1, "2 janv. 1970": 1, "2 février 1970": 32, "2. März 1970": 60, "2 mai 1970": 121, "2 giugno 1970": 152, "2-ago-1970": 213, "2-Oct-70": 274, "2 Dez 1970": 335, "2. January 1970": 1, "1970-01-02 1:30 pm": 1 + 13.5/24, "1970-01-02 12:00 AM": 1, "1970Q2": 90, "Q2 1970": 90, "1970-W01": -3, "1970-W53-7": 367, "1970年1月2日": 1, "1970년 2월": 31, "1970-01-02T12": 1.5,
	} {
		if got, ok := ParseDate(text, ""); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q is day %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1/2/2024", "1-2-2024", "12:30", "1971-W53", "2024Q5", "Foo 2 2024", "2024", "2024-02-30", "tomorrow", "45000", "31.1.24"} {
		if v, ok := ParseDate(text, ""); ok {
			t.Errorf("%q is read as day %v", text, v)
		}
	}
	mixed := new(DateParser) // whatever came before
	for range 2 {
		for text, want := range map[string]float64{"1970-01-02": 1, "Fri, 2 Jan 1970 12:00:00 GMT": 1.5, "1970Q2": 90, "1970-01-02 1:30 pm": 1 + 13.5/24, "2.1.1970": 1, "1970-W01": -3} {
			if got, ok := mixed.Parse(text); !ok || math.Abs(got-want) > 1e-12 {
				t.Errorf("among others %q is day %v, %v; want %v", text, got, ok, want)
			}
		}
	}
	for _, x := range []struct {
		text     string
		dmy, mdy float64
	}{{"2/1/1970", 1, 31}, {"2-1-70", 1, 31}, {"2.1.1970 12:00", 1.5, 31.5}, {"2/1/69", -364, -334}, {"1/2/70 1:30 PM", 31 + 13.5/24, 1 + 13.5/24}, {"1970-01-02", 1, 1}, {"Jan 2, 1970", 1, 1}} {
		dmy, ok1 := ParseDate(x.text, "dmy")
		mdy, ok2 := ParseDate(x.text, "mdy")
		if !ok1 || !ok2 || math.Abs(dmy-x.dmy)+math.Abs(mdy-x.mdy) > 1e-12 {
			t.Errorf("%q is day %v or %v, want %v or %v", x.text, dmy, mdy, x.dmy, x.mdy)
		}
	}
	for texts, want := range map[string]string{"2024-01-02 2024-01-03": "date", "1/2/2024 13/2/2024": "dmy", "1/2/2024 2/13/2024": "mdy", "1/2/2024 3/4/2024": "dmy mdy", "2024-01-02 1/13/2024": "mdy",
		"13/1/2024 1/13/2024": "", "1/2/2024 soon": "", "13/13/2024": ""} {
		if got := strings.Join(dateKinds(strings.Fields(texts)), " "); got != want {
			t.Errorf("%q is for %q, want %q", texts, got, want)
		}
	}
	for want, days := range map[string]float64{"1970-01-01": 0, "1969-12-31": -1, "1970-01-02T12:00:00Z": 1.5, "0001-01-01": firstDay, "9999-12-31": lastDay - 1, "day 1e+300 of 1970": 1e300} {
		if got := FormatDate(days); got != want {
			t.Errorf("day %v is written %q, want %q", days, got, want)
		}
	}
}

// Columns of dates are read as days, whatever else is read beside them; a text that is no date is an error with its line.
func TestFilesWithDates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("d.csv", "who,when,y,known\na,1970-01-03,1.5,k\nb,,2.5,k\nc,1970-01-02T12:00Z,3.5,l\nd,NA,0.5,l\n")
	for _, stream := range []bool{false, true} {
		src, info, err := Load(context.Background(), path, Options{Dates: []DateColumn{{Name: "when"}}, ID: "who", Truth: "known", Missing: "model", Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(info.Features, ","); got != "when,y" {
			t.Errorf("the features are %s", got)
		}
		r, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var b Block
		if err := r.Read(&b, 10); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if b.N != 4 || b.At(0, 0) != 2 || b.At(1, 0) == b.At(1, 0) || b.At(2, 0) != 1.5 || b.At(2, 1) != 3.5 || b.ID[2] != "c" || b.Truth[2] != "l" {
			t.Errorf("the rows are %+v", b)
		}
		r.Close()
		if c, ok := src.(io.Closer); ok {
			c.Close()
		}
	}
	for text, says := range map[string]string{
		"when,y\n1970-01-03,1\n1970-01-04,2\nsoon,3\n": `:4: column "when": "soon" is not a date such as`,
		"when,y\n1/2/1970,1\n3/2/1970,2\n":             `:2: column "when": "1/2/1970" is not a date such as 2024-01-31 or 2024-01-31T12:30:00Z; --transform dmy:when (day first) or mdy:when (month first) reads it`,
		"wen,y\n1970-01-03,1\n1970-01-04,2\n":          `column "when" is not in`,
	} {
		_, _, err := Load(context.Background(), write("bad.csv", text), Options{Dates: []DateColumn{{Name: "when"}}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want one that says %q", err, says)
		}
	}
}

// Whatever is read as a date is written as one, to the second.
func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2024-01-31", "31/1/24 1:30 pm", "Wed, 31 Jan 2024 12:00:00 GMT", "2024-W05-3", "Q1 2024", "2024年1月2日"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, order := range []string{"", "dmy", "mdy"} {
			days, ok := ParseDate(s, order)
			if !ok {
				continue
			}
			back, ok := ParseDate(FormatDate(days), "")
			if second := 1.0 / secondsADay; math.Abs(back-days) > second && days < lastDay-second || !ok && days < lastDay-second {
				t.Errorf("%q is day %v, written %q, which is day %v", s, days, FormatDate(days), back)
			}
		}
	})
}
