package data

import (
	"strings"
	"testing"
)

func TestNamesOfIdentifiersAndCounts(t *testing.T) {
	for _, name := range strings.Fields("zip_code ZIP zipcode county_id CountyID userId USER_ID customer.key postcode PLZ account_number house_no FIPS isbn phone id_2 row-id") {
		if !namedLikeID(name) {
			t.Errorf("%s is not taken for an identifier", name)
		}
	}
	for _, name := range strings.Fields("width humidity avid idea keyboard mph number_of_rooms num_no no price_zipped codeine indexed acidity solid liquid age number index bmi_2") {
		if namedLikeID(name) {
			t.Errorf("%s is taken for an identifier", name)
		}
	}
	for name, want := range map[string]string{"freq": "counts", "Freq": "counts", "word_freq": "counts", "count": "counts", "n": "counts", "nobs": "counts", "n_obs": "counts", "row_count": "counts",
		"wt": "weights", "sample_weight": "weights", "fnlwgt": "weights", "weights": "weights",
		"weight": "", "body_weight": "", "N": "", "account": "", "discount": "", "platelet_count": "", "frequent": "", "": ""} {
		if got := namedLikeWeight(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestLikelyIdentifiersAreSuggested(t *testing.T) {
	text := "zip_code,county_id,freq,x\n10115,7,3,1.5\n80331,7,2,2.5\n50667,9,12,0.5\n20095,3,1,7\n"
	info, _ := loadText(t, text, Options{})
	want := []string{
		`column "freq" looks like counts of rows by its name, and is fitted; if it is, use --weight-column freq, or --exclude freq`,
		`columns "zip_code", "county_id" look like identifiers or codes by their names, and are fitted as a measurement; use --exclude zip_code,county_id, or --id county_id for one that names the rows`,
	}
	if got := strings.Join(info.Warnings, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got %s\nwant %s", got, strings.Join(want, "\n"))
	}
	for _, o := range []Options{{Columns: []string{"1-4"}}, {Exclude: []string{"zip_code,county_id,freq"}}, {ID: "county_id", Weight: "freq", Exclude: []string{"zip_code"}},
		{Exact: []string{"zip_code", "county_id", "freq", "x"}}} { // who says which columns, knows them
		if info, _ := loadText(t, text, o); len(info.Warnings) > 0 {
			t.Errorf("%+v: warnings %q", o, info.Warnings)
		}
	}
	if info, _ := loadText(t, "code,freq,x\n1.5,-1,1\n2.5,2,2\n", Options{}); len(info.Warnings) > 0 { // fractions are no codes, and nothing is there -1 times
		t.Errorf("warnings %q", info.Warnings)
	}
}

func TestWhatTextLooksLike(t *testing.T) {
	for want, cells := range map[string][]string{
		"amounts of money":                      {"$29.85", "-$5", "$1,889.50", "€ 12", "12 €", "12,50 €", "£3", "USD 12.50", "12.50 USD", "($5.00)", "$1.5M", "1.234,50 EUR", "CHF 5", "¥500", "₹1,00,000", "kr 25", "R$ 3,50", "A$500", "HK$1,200"},
		"percentages":                           {"45%", "45.5 %", "-3%", "12,5%", "3‰", "(45%)", "%45", "3％"},
		"numbers with commas between thousands": {"1,889.50", "1,234", "12,345,678", "-1,234", "12,34,567"},
		"numbers with marks between thousands":  {"1 234", "1 234,5", "1'234.50", "1’234", "1_000_000", "12\u00a0345"},
		"numbers with decimal commas":           {"0,7", "-12,5", "1.234,56", "3,14159", "1234,567"},
		"dates or times": {"2024-01-31", "31.01.2024", "1/31/2024", "1/31/24", "2024/01/31", "2024-01-31 12:30", "2024-01-31T12:30:00Z", "2024-01-31 12:30:00+01:00", "12:30", "12:30:15.5", "1:30 PM", "31 Jan 2024",
			"31-Jan-24", "Jan 31, 2024", "January 2024", "Wed, 31 Jan 2024 12:30:00 GMT", "2024-01", "Jan-24", "24-Jan", "2024Q1", "Q1 2024", "2024 Q1", "2024-W05-3", "01/2024", "2024:01:31 10:00:00", "31. März 2024", "20240131T120000", "2024-01-31 12:30:00 UTC"},
		"numbers whose sign is not written as -":      {"−5", "(12.5)", "12.5-", "(1,234)"},
		"numbers with characters that cannot be seen": {"12\u200b", "\u00a05.5", "\ufeff7"},
		"numbers with a unit (kg)":                    {"12 kg", "12kg", "5.5 kg", "-3 kg"},
		"numbers with a unit (°C)":                    {"12 °C", "12°C"},
		"":                                            {"Oslo", "a1", "4l", "x", "12 High Street", "1st", "yes", "3-4", "192.168.0.1", "B2", "12A", "", "-", "May", "Marching 2024x", "K-12", "kr", "$", "%", "1/2", "5/1024", "13/2024", "2024", "v1.2"},
	} {
		for _, cell := range cells {
			k, ok := lookOf(cell, '.')
			if got := k.what; (want != "") != ok || ok && got != want {
				t.Errorf("%q looks like %q (%v), want %q", cell, got, ok, want)
			}
		}
	}
	if k, ok := lookOf("12.5", ','); !ok || k.what != "numbers with decimal points" || k.advice != "use --decimal ." {
		t.Errorf("a point in a file of commas: %v", k)
	}
}

// TestTextIsLeftOutWithItsLooks: more than half of the texts of a column say what it looks like.
func TestTextIsLeftOutWithItsLooks(t *testing.T) {
	for _, c := range []struct{ column, want string }{
		{"$29.85 $3 $7.10 free", `v (text: amounts of money such as "$29.85"; write plain numbers)`},
		{"45% 3% 7% 8%", `v (text: percentages such as "45%"; write plain numbers)`},
		{"2024-01-31 2024-02-01 2024-02-02 NA", `v (text: dates or times such as "2024-01-31"; --transform date:COLUMN fits them as days)`},
		{"0,7 1,250 2,5 3,5", `v (text: numbers with decimal commas such as "0,7"; use --decimal ,)`},
		{"Oslo $3 Bergen Turku", "v (text)"},
	} {
		var b strings.Builder
		b.WriteString("v,x\n")
		for i, cell := range strings.Fields(c.column) {
			b.WriteString("\"" + cell + "\"," + string(rune('1'+i)) + "\n")
		}
		o := Options{Decimal: "."}
		info, _ := loadText(t, b.String(), o)
		if got := strings.Join(info.LeftOut(), "\n"); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
		o.Exclude = []string{"x"}
		_, _, err := Load(t.Context(), write(t, "t.csv", b.String()), o)
		if want := "no column is left to work with: " + c.want + ", x (excluded)"; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	_, _, err := Load(t.Context(), write(t, "t.csv", "v,x\n5,1\n$29.85,2\n7,3\n"), Options{})
	if want := `t.csv:3: column "v": "$29.85" is not a number (it looks like amounts of money; write plain numbers); use --exclude v`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
