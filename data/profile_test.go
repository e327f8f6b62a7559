package data

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func TestProfile(t *testing.T) {
	in := "id,x,b,kind,c,e\n7,1.5,0,u,4,\n9,NA,1,v,4,\n8,1.5,0,u,4,\n5,2.5,1,NA,4,\n"
	r, err := Profile(context.Background(), write(t, "f.csv", in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"f.csv","format":"csv","rows":4,"delimiter":",","decimal":".","header":true,"columns":[` +
		`{"name":"id","kind":"id","use":"ignored","why":"counter","missing":0,"non_finite":0,"distinct":4,"min":5,"max":9,"mean":7.25,"sd":1.707825127659933},` +
		`{"name":"x","kind":"number","use":"feature","why":"","missing":1,"non_finite":0,"distinct":2,"min":1.5,"max":2.5,"mean":1.8333333333333333,"sd":0.5773502691896257},` +
		`{"name":"b","kind":"bits","use":"feature","why":"","missing":0,"non_finite":0,"distinct":2,"min":0,"max":1,"mean":0.5,"sd":0.5773502691896257},` +
		`{"name":"kind","kind":"text","use":"ignored","why":"text","missing":1,"non_finite":0,"distinct":2,"min":null,"max":null,"mean":null,"sd":null},` +
		`{"name":"c","kind":"constant","use":"ignored","why":"constant","missing":0,"non_finite":0,"distinct":1,"min":4,"max":4,"mean":4,"sd":0},` +
		`{"name":"e","kind":"empty","use":"ignored","why":"empty","missing":4,"non_finite":0,"distinct":0,"min":null,"max":null,"mean":null,"sd":null}],` +
		`"incomplete_rows":1,"duplicate_rows":1,"warnings":["1 row is the same as one before in the 2 columns that are fitted","1 row has at least one missing value"],` +
		`"error":"f.csv:3: column \"x\" has no value here (1 cell in 1 row is missing); use --missing drop, or --exclude x"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestProfileSaysWhatLoadSays compares the words of both for files that Load refuses.
func TestProfileSaysWhatLoadSays(t *testing.T) {
	for _, in := range []string{gaps, gaps + "inf,3\n", "a\n1\n2\nx\n", "a,b\nu,v\nw,v\n", "a,b\n1,2\n3\n", "a,b\n"} {
		_, _, want := Load(context.Background(), write(t, "f.csv", in), Options{})
		r, err := Profile(context.Background(), "f.csv", Options{})
		if err == nil {
			err = r.Err
		}
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%.20q: check says %v, fit %v", in, err, want)
		}
	}
}

func TestProfileOfRowsWithoutValues(t *testing.T) {
	file := write(t, "f.csv", "t,x,y\n1,1.5,2\n2,,\n3,1.5,2\n4,,\n5,,\n6,2.5,\n7,3.5,1\n")
	for _, c := range []struct {
		o        Options
		dropped  int64
		warnings string
	}{
		{Options{Exclude: []string{"t"}, Missing: "model"}, 0, "1 row is the same as one before in the 2 columns that are fitted; 4 rows have at least one missing value"},
		{Options{Exclude: []string{"t"}, Missing: "drop", AllowFewer: true}, 4, "dropped 4 of 7 rows with a missing value; 1 row is the same as one before in the 2 columns that are fitted"},
		{Options{Time: "t", Missing: "drop"}, 0, "4 rows have at least one missing value"},
		{Options{Time: "t", Missing: "model"}, 0, "4 rows have at least one missing value"},
	} {
		r, err := Profile(context.Background(), file, c.o)
		if err != nil || r.Err != nil {
			t.Fatalf("%+v: %v, %v", c.o, err, r.Err)
		}
		if got := strings.Join(r.Warnings, "; "); r.DuplicateRows != 1 || r.IncompleteRows != 4 || r.Dropped != c.dropped || got != c.warnings {
			t.Errorf("%+v: %d duplicate, %d incomplete and %d dropped rows, %s", c.o, r.DuplicateRows, r.IncompleteRows, r.Dropped, got)
		}
	}
}
