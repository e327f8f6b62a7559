package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"strings"
	"testing"
)

// painted writes a picture of w x h to a PNG and returns its name.
func painted(t *testing.T, name string, w, h int, at func(x, y int) color.NRGBA) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.SetNRGBA(i%w, i/w, at(i%w, i/w))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func gray(v int) color.NRGBA { return color.NRGBA{uint8(v), uint8(v), uint8(v), 255} }

// segmentJSON runs segment with --json and returns what it printed; the exit status must be one of ok.
func segmentJSON(t *testing.T, ok []int, args ...string) map[string]any {
	t.Helper()
	var out, errw bytes.Buffer
	status := run(context.Background(), append(append([]string{"segment"}, args...), "--json"), nil, &out, &errw)
	for _, s := range ok {
		if s == status {
			var v map[string]any
			if err := json.Unmarshal(out.Bytes(), &v); err != nil {
				t.Fatalf("%q: %v\n%s", args, err, out.String())
			}
			return v
		}
	}
	t.Fatalf("%q: exit status %d: %s", args, status, errw.String())
	return nil
}

func pixelsOf(t *testing.T, name string) image.Image {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Levels 10, 12, 250 and 252 in two segments are 11 and 251, 1 away each.
func TestSegmentGrayLevels(t *testing.T) {
	t.Chdir(t.TempDir())
	levels := []int{10, 12, 250, 252}
	name := painted(t, "gray.png", 4, 1, func(x, _ int) color.NRGBA { return gray(levels[x]) })
	for _, modelFile := range []string{"kmeans", "kmedians", "gmm"} {
		v := segmentJSON(t, []int{0}, name, "-k", "2", "--model", modelFile, "-o", "out.png", "--labels", "map.png")
		if v["mse"] != 2.0 || v["rmse"] != 1.0 || v["n"] != 4.0 || v["width"] != 4.0 || v["height"] != 1.0 || v["channels"] != 1.0 {
			t.Errorf("%s: mse %v, rmse %v, n %v, %v x %v", modelFile, v["mse"], v["rmse"], v["n"], v["width"], v["height"])
		}
		if modelFile == "kmeans" && math.Abs(v["inertia"].(float64)-4) > 1e-9 {
			t.Errorf("inertia %v", v["inertia"])
		}
		out, labels := pixelsOf(t, "out.png"), pixelsOf(t, "map.png")
		for x, want := range []int{11, 11, 251, 251} {
			if got := color.NRGBAModel.Convert(out.At(x, 0)); got != gray(want) {
				t.Errorf("%s: pixel %d is %v, want %d", modelFile, x, got, want)
			}
			if got := labels.At(x, 0).(color.Gray).Y; (got == labels.At(0, 0).(color.Gray).Y) != (x < 2) || got > 1 {
				t.Errorf("%s: pixel %d has label %d", modelFile, x, got)
			}
		}
	}
}

// More segments than colours: each colour is one, whatever the model, and a warning says so.
func TestSegmentFewColours(t *testing.T) {
	t.Chdir(t.TempDir())
	colours := []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {9, 9, 200, 255}}
	name := painted(t, "few.png", 12, 5, func(x, _ int) color.NRGBA { return colours[x%3] })
	one := painted(t, "one.png", 16, 16, func(_, _ int) color.NRGBA { return color.NRGBA{70, 80, 90, 255} })
	for _, args := range [][]string{{name, "-k", "7"}, {name, "-k", "3"}, {name, "-k", "7", "--model", "kmedians"}, {name, "-k", "7", "--covariance", "tied", "--init", "random"},
		{name, "-k", "5", "--model", "kmeans", "--space", "lab"}, {one, "-k", "3"}, {one, "-k", "1"}, {one, "-k", "2", "--model", "kmeans"}, {one, "--model", "kmeans", "--penalty", "9"}} {
		v := segmentJSON(t, []int{0}, append(args, "-o", "out.png")...)
		want, n := 3, 60.0
		if args[0] == one {
			want, n = 1, 256
		}
		sum := 0.0
		for _, s := range v["segments"].([]any) {
			sum += s.(map[string]any)["pixels"].(float64)
		}
		rows := 0.0
		for _, c := range v["components"].([]any) {
			rows += c.(map[string]any)["rows"].(float64)
		}
		if len(v["segments"].([]any)) != want || v["k"] != float64(want) || v["mse"] != 0.0 || sum != n || rows != n || v["n"] != n || v["weight_total"] != n || len(v["warnings"].([]any)) == 0 {
			t.Errorf("%q: %v segments of %v pixels in all, k %v, rows %v, n %v, mse %v, warnings %v", args, len(v["segments"].([]any)), sum, v["k"], rows, v["n"], v["mse"], v["warnings"])
		}
		in, out := pixelsOf(t, args[0]), pixelsOf(t, "out.png")
		for i := range 12 * 5 {
			if a, b := color.NRGBAModel.Convert(in.At(i%12, i/12)), color.NRGBAModel.Convert(out.At(i%12, i/12)); a != b {
				t.Fatalf("%q: pixel %d is %v, was %v", args, i, b, a)
			}
		}
	}
}

// Fully transparent pixels are in no segment and stay as they are; opacity in between is kept.
func TestSegmentTransparency(t *testing.T) {
	t.Chdir(t.TempDir())
	name := painted(t, "alpha.png", 6, 4, func(x, y int) color.NRGBA {
		return color.NRGBA{uint8(200 * (x % 2)), uint8(10 * y), 7, []uint8{0, 100, 255}[y%3]}
	})
	v := segmentJSON(t, []int{0}, name, "-k", "2", "--model", "kmeans", "-o", "out.png", "--labels", "labels.csv", "--palette", "palette.csv", "--masks", "masks")
	if v["n"] != 12.0 || v["transparent"] != 12.0 {
		t.Fatalf("n %v, transparent %v", v["n"], v["transparent"])
	}
	out := pixelsOf(t, "out.png")
	for i := range 24 {
		got := color.NRGBAModel.Convert(out.At(i%6, i/6)).(color.NRGBA)
		want := color.NRGBA{uint8(200 * (i % 2)), 15, 7, []uint8{0, 100, 255, 0}[i/6]} // rows 1 and 2 are seen: green 10 and 20
		if want.A == 0 {
			want = color.NRGBA{}
		}
		if got != want {
			t.Errorf("pixel %d is %v, want %v", i, got, want)
		}
	}
	labels, err := os.ReadFile("labels.csv")
	if err != nil || strings.Count(string(labels), "\n") != 13 || !strings.HasPrefix(string(labels), "x,y,label\n0,1,") {
		t.Errorf("labels %q, %v", labels, err)
	}
	palette, err := os.ReadFile("palette.csv")
	if want := "label,red,green,blue,pixels,share,hex\n1,0,15,7,6,0.5,#000f07\n2,200,15,7,6,0.5,#c80f07\n"; err != nil || string(palette) != want {
		t.Errorf("palette %q, want %q", palette, want)
	}
	for label, odd := range map[int]bool{1: false, 2: true} {
		mask := pixelsOf(t, fmt.Sprintf("masks/segment-%d.png", label))
		for i := range 24 {
			white := color.GrayModel.Convert(mask.At(i%6, i/6)).(color.Gray).Y
			if want := (i%2 == 1) == odd && (i/6 == 1 || i/6 == 2); (white == 255) != want || white != 0 && white != 255 {
				t.Errorf("mask of %d, pixel %d: %d", label, i, white)
			}
		}
	}
}

// A palette is a start: with no steps allowed the segments are those of its nearest colours.
func TestSegmentFromAPalette(t *testing.T) {
	t.Chdir(t.TempDir())
	name := painted(t, "ramp.png", 100, 1, func(x, _ int) color.NRGBA { return color.NRGBA{uint8(2 * x), uint8(x), 3, 255} })
	if err := os.WriteFile("p.csv", []byte("label,red,green,blue,pixels,share\n1,198,99,3,1,.5\n2,0,0,3,1,.5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	v := segmentJSON(t, []int{0, 3}, name, "-k", "2", "--model", "kmeans", "--init", "centers:p.csv", "--max-iter", "0")
	for i, s := range v["segments"].([]any) {
		g := s.(map[string]any)
		if g["pixels"] != 50.0 || g["color"].([]any)[2] != 3.0 {
			t.Errorf("segment %d: %v", i, g)
		}
	}
	if first := v["components"].([]any)[0].(map[string]any)["mean"].([]any); first[0] != 0.0 && first[0] != 198.0 {
		t.Errorf("a centre that was not given: %v", first)
	}
}

// Samples of 16 bits keep their fractions in the colours that are told.
func TestSegmentSixteenBits(t *testing.T) {
	t.Chdir(t.TempDir())
	m := image.NewGray16(image.Rect(0, 0, 4, 1))
	for x, v := range []uint16{257, 258, 51400, 51402} {
		m.SetGray16(x, 0, color.Gray16{Y: v})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("deep.png", b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	v := segmentJSON(t, []int{0}, "deep.png", "-k", "2", "--model", "kmeans")
	var got []float64
	for _, s := range v["segments"].([]any) {
		got = append(got, s.(map[string]any)["color"].([]any)[0].(float64))
	}
	want := math.Sqrt((2*0.25 + 2*1) / 257 / 257)
	if math.Abs(min(got[0], got[1])-257.5/257) > 1e-12 || math.Abs(max(got[0], got[1])-51401.0/257) > 1e-12 || math.Abs(v["mse"].(float64)-want) > 1e-12 {
		t.Errorf("colours %v, mse %v, want mse %v", got, v["mse"], want)
	}
}

// Errors are one line with the name of the file or of the flag, and nothing is written.
func TestSegmentRefusals(t *testing.T) {
	t.Chdir(t.TempDir())
	four := painted(t, "four.png", 4, 1, func(x, _ int) color.NRGBA { return gray(60 * x) })
	clear := painted(t, "clear.png", 3, 1, func(_, _ int) color.NRGBA { return color.NRGBA{1, 2, 3, 0} })
	half := painted(t, "half.png", 4, 1, func(x, _ int) color.NRGBA { return color.NRGBA{uint8(x), 0, 0, uint8(255 * (x % 2))} })
	if err := os.WriteFile("not.png", []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(four)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("cut.png", whole[:50], 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{1, "four.png: -k is 5, but the picture has 4 pixels", []string{four, "-k", "5"}},
		{1, "half.png: -k is 3, but the picture has 2 pixels that are not fully transparent", []string{half, "-k", "3"}},
		{1, "four.png: -k is 5, but the picture has 4 pixels", []string{four, "-k", "5", "--position", "1"}},
		{1, "clear.png: every pixel is fully transparent", []string{clear, "-k", "2"}},
		{1, "not.png: this is not a picture", []string{"not.png", "-k", "2"}},
		{1, "cut.png: the png is cut short", []string{"cut.png", "-k", "2"}},
		{1, "none.png: there is no such file", []string{"none.png", "-k", "2"}},
		{1, "@rose: there is no built-in picture", []string{"@rose", "-k", "2"}},
		{2, "-k is needed", []string{four}},
		{2, "-k is 65536", []string{four, "-k", "65536"}},
		{2, "--model bernoulli is not for pictures", []string{four, "-k", "2", "--model", "bernoulli"}},
		{2, "--space", []string{four, "-k", "2", "--space", "hsv"}},
		{2, "--position", []string{four, "-k", "2", "--position", "-1"}},
		{2, "--sample", []string{four, "-k", "2", "--sample", "0"}},
		{2, "--sample draws 2 pixels", []string{four, "-k", "3", "--sample", "2"}},
		{2, "--format", []string{four, "-k", "2", "--format", "csv"}},
		{2, "--mask-count", []string{four, "-k", "2", "--mask-count", "0"}},
		{2, "out.jpg: pictures are written as PNG", []string{four, "-k", "2", "-o", "out.jpg"}},
		{2, "labels.xlsx", []string{four, "-k", "2", "--labels", "labels.xlsx"}},
		{2, "would destroy it", []string{four, "-k", "2", "-o", four}},
		{2, "two outputs", []string{four, "-k", "2", "-o", "new.png", "--labels", "new.png"}},
		{2, "--init labels:", []string{four, "-k", "2", "--init", "labels:x"}},
		{2, "--init", []string{four, "-k", "2", "--init", "nearest:x"}},
	} {
		var out, errw bytes.Buffer
		status := run(context.Background(), append([]string{"segment", "--out", "new"}, c.args...), nil, &out, &errw)
		if status != c.status || !strings.Contains(errw.String(), c.want) || strings.Count(errw.String(), "\n") != 1 || out.Len() > 0 {
			t.Errorf("%q: exit status %d, want %d and %q:\n%s%s", c.args, status, c.status, c.want, errw.String(), out.String())
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 5 {
		t.Errorf("%d entries in the folder, want the 5 inputs: %v", len(entries), entries)
	}
}

// The page loads nothing from anywhere and shows a name as text.
func TestSegmentPage(t *testing.T) {
	t.Chdir(t.TempDir())
	name := painted(t, "<img src=x>.png", 9, 9, func(x, y int) color.NRGBA { return color.NRGBA{uint8(20 * x), uint8(20 * y), uint8(x * y), 255} })
	segmentJSON(t, []int{0, 3}, name, "-k", "4", "--model", "kmeans", "--out", "d")
	b, err := os.ReadFile("d/index.html")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, bad := range []string{"<img src=x>", "http:", "https:", "<script", "<link", "@import"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"&lt;img src=x&gt;.png", "data:image/png;base64,", "prefers-color-scheme: dark", "9 x 9 pixels in 4 segments"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "data:image/"); n != 2+4 {
		t.Errorf("%d pictures, want the original, the segmented and 4 masks", n)
	}
	entries, err := os.ReadDir("d/masks")
	if err != nil || len(entries) != 4 {
		t.Errorf("masks: %v %v", entries, err)
	}
}
