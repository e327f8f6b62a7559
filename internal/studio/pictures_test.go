package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent"
)

// pictureForTest opens a picture that is not there.
func (v *server) pictureForTest(id string) {
	w := v.space.get(v.cookie.Value)
	w.mu.Lock()
	w.pictures[id] = &shot{ID: id, Name: "x.png", box: v.Folder}
	w.mu.Unlock()
}

// halves is a picture of 4 x 2 pixels: red, and blue at the right; the last one is transparent.
func halves() string {
	m := image.NewNRGBA(image.Rect(0, 0, 4, 2))
	for y := range 2 {
		for x := range 4 {
			m.SetNRGBA(x, y, color.NRGBA{uint8(255 * (1 - x/2)), 0, uint8(255 * (x / 2)), 255})
		}
	}
	m.SetNRGBA(3, 1, color.NRGBA{})
	var b bytes.Buffer
	png.Encode(&b, m)
	return b.String()
}

// segmenter stands for the command: it writes the labels above and tells what it was asked.
func segmenter(asked *[]string) RunFunc {
	return func(_ context.Context, args []string, out, errw io.Writer, h Hooks) int {
		*asked = args
		if slices.Contains(args, "99") {
			fmt.Fprintf(errw, "latent: %s: -k is 99, but the picture has 7 pixels\n", args[len(args)-1])
			return 1
		}
		h.Observe.Step(latent.Progress{Start: 1, Of: 1})
		m := image.NewGray(image.Rect(0, 0, 4, 2))
		copy(m.Pix, []uint8{0, 0, 1, 1, 0, 0, 1, 2})
		for i, a := range args {
			var b bytes.Buffer
			if a == "--labels" || a == "-o" || a == "--palette" {
				png.Encode(&b, m)
				os.WriteFile(args[i+1], b.Bytes(), 0o600)
			}
		}
		return printed(out, map[string]any{"mse": 1.5, "components": []int{1, 2}, "segments": []map[string]any{
			{"label": 1, "color": []float64{0, 0, 255}, "pixels": 3, "share": 3. / 7}, {"label": 2, "color": []float64{255, 0, 0}, "pixels": 4, "share": 4. / 7}}})
	}
}

func TestPictures(t *testing.T) {
	var asked []string
	v := serving(t, Options{Run: segmenter(&asked)})
	var p struct {
		ID, Name               string
		Width, Height, Colours int
	}
	v.ask("POST", "/api/pictures?name=my%20patch.png", halves(), nil).read(t, &p)
	if p.Name != "my patch.png" || p.Width != 4 || p.Height != 2 || p.Colours != 2 {
		t.Errorf("%+v", p)
	}
	at := "/api/pictures/" + p.ID
	before := v.ask("GET", at+"/before.png", "", nil)
	if m, err := png.Decode(bytes.NewReader(before.body)); err != nil || m.Bounds().Dx() != 4 || before.Header.Get("Content-Type") != "image/png" {
		t.Errorf("before: %v, %v", err, before.Header)
	}
	for _, name := range []string{"after.png", "segments.bin"} {
		if r := v.ask("GET", at+"/"+name, "", nil); r.StatusCode != 404 || !strings.Contains(string(r.body), "my patch.png: it has not been segmented yet") {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	segment := func(body string) []map[string]json.RawMessage {
		t.Helper()
		r := v.ask("POST", at+"/segment", body, map[string]string{"Content-Type": "application/json"})
		var lines []map[string]json.RawMessage
		for _, l := range strings.Split(strings.TrimSpace(string(r.body)), "\n") {
			var line map[string]json.RawMessage
			if err := json.Unmarshal([]byte(l), &line); err != nil {
				t.Fatalf("%v: %s", err, l)
			}
			lines = append(lines, line)
		}
		return lines
	}
	lines := segment(`{"k":2,"model":"kmeans","space":"lab","position":0.5,"seed":3}`)
	last := lines[len(lines)-1]
	if got := string(last["command"]); got != `"latent segment 'my patch.png' -k 2 --model kmeans --space lab --position 0.5 --seed 3 -o segmented.png"` {
		t.Errorf("command: %s", got)
	}
	if got := string(last["segments"]); !strings.HasPrefix(got, `[{"label":2,"share":0.5714285714285714,"pixels":4,"hex":"#ff0000"}`) {
		t.Errorf("segments: %s", got)
	}
	if got := strings.Join(asked, " "); !strings.HasPrefix(got, "segment -k 2 --model kmeans --space lab --position 0.5 --seed 3 -o ") {
		t.Errorf("asked: %s", got)
	}
	if got := v.ask("GET", at+"/segments.bin", "", nil).body; !bytes.Equal(got, []byte{0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 255, 255}) {
		t.Errorf("segments: %v", got)
	}
	for name, kind := range map[string]string{"after.png": "image/png", "labels.png": "image/png", "palette.csv": "text/csv; charset=utf-8"} {
		if r := v.ask("GET", at+"/"+name, "", nil); r.StatusCode != 200 || r.Header.Get("Content-Type") != kind || len(r.body) == 0 {
			t.Errorf("%s: %d %v", name, r.StatusCode, r.Header)
		}
	}
	if got := segment(`{"k":99}`); string(got[len(got)-1]["error"]) != `"my patch.png: -k is 99, but the picture has 7 pixels"` {
		t.Errorf("an error: %s", got)
	}
	if r := v.ask("GET", at+"/after.png", "", nil); r.StatusCode != 200 {
		t.Errorf("after a fault the last result is gone: %d", r.StatusCode)
	}
	segment(`{"k":2}`)
	if made, _ := filepath.Glob(filepath.Join(v.Folder, p.ID, "s*")); len(made) != 1 {
		t.Errorf("results kept: %q", made)
	}
	for name, want := range map[string]string{"-patch.png": "./-patch.png", "@patch.png": "./@patch.png"} { // neither a flag nor a built-in picture
		v.ask("POST", "/api/pictures?name="+name, halves(), nil).read(t, &p)
		at = "/api/pictures/" + p.ID
		lines := segment(`{"k":2}`)
		if got := string(lines[len(lines)-1]["command"]); got != `"latent segment `+want+` -k 2 -o segmented.png"` {
			t.Errorf("%s: command: %s", name, got)
		}
	}
	for body, want := range map[string]string{"": "odd.png", "GIF89a": "odd.png", "\x89PNG\r\n\x1a\n": "odd.png", halves()[:60]: "odd.png"} {
		if r := v.ask("POST", "/api/pictures?name=odd.png", body, nil); r.StatusCode != 422 || !strings.Contains(string(r.body), want) || strings.Contains(string(r.body), v.Folder) {
			t.Errorf("%q: %d %s", body, r.StatusCode, r.body)
		}
	}
}
