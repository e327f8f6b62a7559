package browsertest

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// patches writes a picture of four colours with some noise.
func patches(t testing.TB) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 64, 48))
	base := []color.NRGBA{{200, 60, 60, 255}, {60, 160, 80, 255}, {40, 60, 190, 255}, {240, 220, 120, 255}}
	for y := range 48 {
		for x := range 64 {
			c, noise := base[(x/16+y/12)%4], uint8((x*31+y*17)%15)
			m.SetNRGBA(x, y, color.NRGBA{c.R - noise, c.G - noise, c.B - noise, 255})
		}
	}
	return saved(t, m, "patch.png")
}

// saved writes a picture to a file of this name and returns its path.
func saved(t testing.TB, m image.Image, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// A picture is dropped and segmented; its error is the command's, and a chip lights up the pixels of a segment.
func TestAPictureIsSegmented(t *testing.T) {
	path := patches(t)
	p := open(t, shared, "/pictures", look{})
	p.until(el("picture-limit")+".textContent.length > 0", "the limit")
	p.drop("picture-zone", path)
	p.until("!"+el("picture-run")+".disabled", "the picture")
	p.choose("picture-k", "4")
	p.click("picture-run")
	p.until(el("palette")+".children.length === 4", "a palette")
	out, err := exec.Command(command, "segment", path, "-k", "4", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		MSE float64 `json:"mse"`
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	if got := p.value("picture-mse"); got != want.MSE {
		t.Errorf("mean squared error %v, the command has %v", got, want.MSE)
	}
	p.until(el("picture-after")+".naturalWidth === 64", "the picture after")
	p.picture("pictures-after")
	p.accessible()
	p.key("1")
	p.until(el("picture-cover")+".checkVisibility()", "a segment that is lit up")
	clear := eval[int](p, "(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] === 0 ? 1 : 0; return n })("+el("picture-cover")+")")
	if clear != 768 {
		t.Errorf("%d pixels are lit up, the patches of one colour have 768", clear)
	}
	p.picture("pictures-lit")
	p.key("1")
	p.until("!"+el("picture-cover")+".checkVisibility()", "all pixels again")
}

// A picture that is dropped at Your data goes to Pictures.
func TestAPictureGoesToPictures(t *testing.T) {
	p := open(t, shared, "/data", look{})
	p.until(el("set-select")+".options.length > 1", "the sets")
	p.drop("drop-zone", patches(t))
	p.until("location.pathname === '/pictures' && !"+el("picture-run")+".disabled", "the picture")
	if got := p.text("picture-name"); got != "patch.png" {
		t.Errorf("the picture is %q", got)
	}
}

// What is no picture is refused in one line.
func TestWhatIsNoPictureIsExplained(t *testing.T) {
	p := open(t, shared, "/pictures", look{})
	p.until(el("picture-limit")+".textContent.length > 0", "the limit")
	p.files("picture-input", write(t, "words.png", "no picture at all"))
	p.appears("picture-error")
	p.expect(422)
}
