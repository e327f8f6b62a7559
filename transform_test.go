package latent

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// onScales returns rows of price (log), visits (log1p), area (sqrt), rate (logit) and y in two groups, the same rows with the scales applied by the formulas,
// and the sum of the logarithms of the slopes over the cells that are there.
func onScales(weights, gaps bool) (raw, scaled *data.Table, slopes float64) {
	const n, d = 240, 5
	z := rng.Normals(11, n*d)
	raw, scaled = &data.Table{N: n, D: d}, &data.Table{N: n, D: d}
	for i := range n {
		far, w := float64(i%2), 1.0
		if weights {
			w = float64(1 + i%3)
			raw.W, scaled.W = append(raw.W, w), append(scaled.W, w)
		}
		row := z[i*d : i*d+d]
		x := []float64{math.Exp(2 + 0.5*row[0] + 2*far), math.Expm1(1.5 + 0.3*row[1] + far), math.Pow(10+row[2]+4*far, 2), 1 / (1 + math.Exp(-row[3]+far)), row[4] + 3*far}
		for j, v := range x {
			y, slope := v, 0.0
			switch j {
			case 0:
				y, slope = math.Log(v), -math.Log(v)
			case 1:
				y, slope = math.Log(1+v), -math.Log(1+v)
			case 2:
				y, slope = math.Sqrt(v), -math.Log(2*math.Sqrt(v))
			case 3:
				y, slope = math.Log(v/(1-v)), -math.Log(v*(1-v))
			}
			if gaps && (i+3*j)%17 == 0 {
				v, y, slope = math.NaN(), math.NaN(), 0
			}
			raw.F64, scaled.F64 = append(raw.F64, v), append(scaled.F64, y)
			slopes += w * slope
		}
	}
	return raw, scaled, slopes
}

// scales is what onScales applies.
const scales = "log:price; log1p:visits; sqrt:area; logit:rate"

var scaledColumns = []string{"price", "visits", "area", "rate", "y"}

// A fit on other scales is the fit of rows that somebody else has put on them, whatever else is asked for: the same parameters, and a log-likelihood that
// differs by the slopes of the scales.
func TestFitsOnOtherScalesAreThoseOfScaledRows(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]Spec{
		"full": {K: 2}, "diag": {K: 2, Covariance: "diag"}, "standard": {K: 2, Scale: "standard"}, "turned": {K: 2, PCA: 5}, "kmeans": {K: 2, Model: "kmeans"},
		"kmedians": {K: 2, Model: "kmedians", Scale: "robust"}, "choice": {KRange: [2]int{1, 3}, Covariance: "spherical"}, "em": {K: 2, Algorithm: "em", Covariance: "tied"},
	} {
		for _, with := range []string{"", "weights", "gaps"} {
			raw, scaled, slopes := onScales(with == "weights", with == "gaps")
			if with == "gaps" {
				if spec.PCA > 0 || spec.Model != "" || spec.Covariance == "tied" {
					continue
				}
				spec.Missing = "model"
			}
			spec.Columns, spec.Transform = scaledColumns, ""
			want, err := Fit(context.Background(), scaled, spec)
			if err != nil {
				t.Fatalf("%s %s: %v", name, with, err)
			}
			spec.Transform = scales
			for _, src := range []data.Source{raw, fixtures.Passed(raw)} {
				got, err := Fit(context.Background(), src, spec)
				if err != nil {
					t.Fatalf("%s %s: %v", name, with, err)
				}
				sameParameters(t, name+" "+with, got.Model, want.Model)
				if want.LogLik != nil {
					near(t, name+" "+with+": log-likelihood", *got.LogLik, *want.LogLik+slopes, 1e-9)
					near(t, name+" "+with+": BIC", *got.BIC, *want.BIC-2*slopes, 1e-9)
				} else {
					near(t, name+" "+with+": inertia", *got.Inertia, *want.Inertia, 1e-9)
				}
				for c := range got.Components {
					told(t, name+" "+with, &got.Components[c], &want.Components[c])
				}
			}
		}
	}
}

// near holds a number against another to a share of it.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// sameParameters holds the parameters of a model against those of one of scaled rows.
func sameParameters(t *testing.T, what string, got, want *model.Model) {
	t.Helper()
	if got.K() != want.K() {
		t.Fatalf("%s: %d groups, want %d", what, got.K(), want.K())
	}
	for c := range want.Means {
		for j, v := range want.Means[c] {
			near(t, what+": a parameter", got.Means[c][j], v, 1e-9)
		}
	}
	for c := range want.Covariance {
		for j, v := range want.Covariance[c] {
			near(t, what+": a covariance", got.Covariance[c][j], v, 1e-8)
		}
	}
}

// told holds the place of a group against the inverse of that on the other scale.
func told(t *testing.T, what string, got, want *model.Component) {
	t.Helper()
	at, on := got.Mean, want.Mean
	if at == nil {
		at, on = got.Median, want.Median
	}
	for j, v := range []float64{math.Exp(on[0]), math.Exp(on[1]) - 1, on[2] * on[2], 1 / (1 + math.Exp(-on[3])), on[4]} {
		near(t, what+": the place of a group in "+scaledColumns[j], at[j], v, 1e-9)
	}
}

// Standard errors of means are told in the user's units, by the slope of the inverse there (the delta method).
func TestStandardErrorsOnOtherScales(t *testing.T) {
	t.Parallel()
	raw, scaled, _ := onScales(false, false)
	spec := Spec{K: 2, Columns: scaledColumns, Covariance: "diag"}
	want := mustFit(t, scaled, spec).Model
	spec.Transform = scales
	got := mustFit(t, raw, spec).Model
	for j, slope := range []func(y float64) float64{math.Exp, math.Exp, func(y float64) float64 { return 2 * y }, func(y float64) float64 { return math.Exp(-y) / math.Pow(1+math.Exp(-y), 2) }, func(float64) float64 { return 1 }} {
		for c := range 2 {
			near(t, "the standard error of the mean of "+scaledColumns[j], got.StandardErrors.Means[c][j], slope(want.Means[c][j])*want.StandardErrors.Means[c][j], 1e-9)
		}
	}
}

// What is drawn again, chosen and tested is what it would be on rows that are scaled already.
func TestRepeatedFitsOnOtherScales(t *testing.T) {
	t.Parallel()
	raw, scaled, _ := onScales(true, false)
	spec := Spec{K: 2, Columns: scaledColumns, Covariance: "diag", Bootstrap: 5, LRT: 5, NInit: 1}
	want := mustFit(t, scaled, spec)
	spec.Transform = scales
	got := mustFit(t, raw, spec)
	if got.Stability == nil || got.Stability.Done != 5 || math.Abs(*got.Stability.ARI-*want.Stability.ARI) > 1e-9 {
		t.Errorf("stability %+v, want %+v", got.Stability, want.Stability)
	}
	if got.LRT == nil || got.LRT.Statistic == nil || math.Abs(*got.LRT.Statistic-*want.LRT.Statistic) > 1e-6 || got.LRT.Done != 5 || *got.LRT.P != *want.LRT.P {
		t.Errorf("the test is %+v, want %+v", got.LRT, want.LRT)
	}
}

// The bytes of a model do not depend on the number of threads, and a model is a start of the fit that made it.
func TestModelsOnOtherScalesAreSameBytes(t *testing.T) {
	t.Parallel()
	raw, _, _ := onScales(true, true)
	spec := Spec{K: 2, Columns: scaledColumns, Covariance: "diag", Missing: "model", Transform: scales, Threads: 1}
	var files [2]bytes.Buffer
	first := mustFit(t, raw, spec)
	spec.Threads = 3
	for i, r := range []*Result{first, mustFit(t, raw, spec)} {
		if _, err := r.Model.WriteTo(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("1 and 3 threads give different models")
	}
	spec.Init, spec.Given, spec.MaxIter = "model", first.Model, new(0)
	again := mustFit(t, raw, spec)
	if *again.LogLik != *first.LogLik {
		t.Errorf("from itself the log-likelihood is %v, want %v", *again.LogLik, *first.LogLik)
	}
	for c := range first.Model.Means {
		if !slices.Equal(again.Model.Means[c], first.Model.Means[c]) {
			t.Errorf("from itself group %d moves to %v", c+1, again.Model.Means[c])
		}
	}
	spec.Transform = "log:price"
	if _, err := Fit(context.Background(), raw, spec); err == nil || !strings.Contains(err.Error(), "other scales") {
		t.Errorf("a start on other scales: the error is %v", err)
	}
}

// Places on both sides of the date line are near each other, and their centre is the direction of the mean of the points of the sphere; days are counted from
// the first.
func TestPlacesAndDays(t *testing.T) {
	t.Parallel()
	z := rng.Normals(3, 200)
	rows := &data.Table{N: 100, D: 3}
	var sum [3]float64
	for i := range 100 {
		lat, lon, day := 10+0.1*z[2*i], 179.9+0.4*z[2*i+1], 19000.5+float64(i%7)/100
		if i%5 == 0 {
			lat, lon = lat-50, 20
		} else {
			a, b := lat*math.Pi/180, lon*math.Pi/180
			sum[0], sum[1], sum[2] = sum[0]+math.Cos(a)*math.Cos(b), sum[1]+math.Cos(a)*math.Sin(b), sum[2]+math.Sin(a)
		}
		if lon > 180 {
			lon -= 360
		}
		rows.F64 = append(rows.F64, lat, day, lon)
	}
	r := mustFit(t, rows, Spec{K: 2, Model: "kmeans", Columns: []string{"lat", "when", "lon"}, Transform: "geo:lat,lon; date:when"})
	c := r.Components[0]
	if c.Rows != 80 || r.Components[1].Rows != 20 {
		t.Fatalf("%d and %d rows, want 80 and 20", c.Rows, r.Components[1].Rows)
	}
	near(t, "latitude", c.Mean[0], math.Atan2(sum[2], math.Hypot(sum[0], sum[1]))*180/math.Pi, 1e-12)
	near(t, "longitude", c.Mean[2], math.Atan2(sum[1], sum[0])*180/math.Pi, 1e-12)
	if got := r.Model.Transform[1].Origin; got != "2022-01-08" { // day 19000 after 1970
		t.Errorf("days are counted from %s", got)
	}
	if at := c.Mean[1]; at < 19000.5 || at > 19000.57 {
		t.Errorf("the mean day is %v", at)
	}
}
