package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files of testdata were made by Pillow (make.py): 6 x 4 pixels, (40x, 60y, 255-40x).
func pattern(x, y int) [3]float64 {
	return [3]float64{float64(40 * x), float64(60 * y), float64(255 - 40*x)}
}

func open(t *testing.T, name string) *Picture {
	t.Helper()
	p, err := Open(filepath.Join("testdata", name), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func near(t *testing.T, what string, got, want [3]float64, tol float64) {
	t.Helper()
	for j := range got {
		if !(got[j]-want[j] <= tol && want[j]-got[j] <= tol) {
			t.Fatalf("%s: %v, want %v within %g", what, got, want, tol)
		}
	}
}

func encode(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t *testing.T, m image.Image) *Picture {
	t.Helper()
	p, err := Decode(encode(t, m), "a.png", "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEveryFormatGivesThePixelsOfItsFile(t *testing.T) {
	for name, format := range map[string]string{"rgb.webp": "webp", "rgb.tiff": "tiff", "rgb.bmp": "bmp", "two-frames.gif": "gif", "two-pages.tiff": "tiff"} {
		p := open(t, name)
		if p.Width != 6 || p.Height != 4 || p.Format != format || p.Visible() != 24 || p.Channels() != 3 {
			t.Fatalf("%s: %d x %d, %s, %d visible, %d channels", name, p.Width, p.Height, p.Format, p.Visible(), p.Channels())
		}
		for i := range p.Pixels() {
			near(t, name, p.RGB(i), pattern(i%6, i/6), 0)
		}
		if several := strings.HasPrefix(name, "two-"); several != (len(p.Notes) == 1 && strings.Contains(p.Notes[0], "the first of")) {
			t.Errorf("%s: notes %q", name, p.Notes)
		}
	}
	// The colours that Pillow reads; its JPEG decoder rounds in another way.
	for name, want := range map[string][3]float64{"cmyk.jpg": {207, 51, 152}, "gray.jpg": {77, 77, 77}, "rgb.jpg": {201, 40, 90}} {
		p := open(t, name)
		if p.Gray() != (name == "gray.jpg") {
			t.Errorf("%s: gray is %t", name, p.Gray())
		}
		for i := range p.Pixels() {
			near(t, name, p.RGB(i), want, 1)
		}
	}
}

// sides are which sides of the upright picture the stored first row and first column are (EXIF 2.3, table of tag 0x0112).
var sides = map[int][2]string{1: {"top", "left"}, 2: {"top", "right"}, 3: {"bottom", "right"}, 4: {"bottom", "left"},
	5: {"left", "top"}, 6: {"right", "top"}, 7: {"right", "bottom"}, 8: {"left", "bottom"}}

// place returns where stored row r and column c of a picture that is upright w x h are seen.
func place(orientation, r, c, w, h int) (x, y int) {
	for i, from := range []int{r, c} {
		switch sides[orientation][i] {
		case "left":
			x = from
		case "right":
			x = w - 1 - from
		case "top":
			y = from
		case "bottom":
			y = h - 1 - from
		}
	}
	return x, y
}

// withOrientation puts an eXIf chunk after the header of a PNG: a TIFF of one directory of one entry.
func withOrientation(b []byte, orientation int) []byte {
	exif := []byte("II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	exif = append(exif, byte(orientation), 0, 0, 0, 0, 0, 0, 0)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(exif)))
	body := append([]byte("eXIf"), exif...)
	chunk = binary.BigEndian.AppendUint32(append(chunk, body...), crc32.ChecksumIEEE(body))
	const header = 8 + 25
	return append(append(append([]byte{}, b[:header]...), chunk...), b[header:]...)
}

func TestOrientationTurnsThePictureUpright(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 5, 3))
	for i := range 15 {
		m.SetNRGBA(i%5, i/5, color.NRGBA{uint8(10 * i), 1, 2, 255})
	}
	for orientation := 0; orientation <= 9; orientation++ { // 0 and 9 are none
		p, err := Decode(withOrientation(encode(t, m), orientation), "a.png", "")
		if err != nil {
			t.Fatal(err)
		}
		as := orientation
		if sides[as] == [2]string{} {
			as = 1
		}
		w, h := 5, 3
		if as > 4 {
			w, h = 3, 5
		}
		if p.Width != w || p.Height != h {
			t.Fatalf("orientation %d: %d x %d, want %d x %d", orientation, p.Width, p.Height, w, h)
		}
		for r := range 3 {
			for c := range 5 {
				x, y := place(as, r, c, w, h)
				if got := p.RGB(y*w + x)[0]; got != float64(10*(r*5+c)) {
					t.Errorf("orientation %d: stored row %d, column %d is not at (%d, %d): there is %v", orientation, r, c, x, y, got)
				}
			}
		}
	}
	for name, orientation := range map[string]int{"right-top.tiff": 6, "left-bottom.webp": 8} {
		p := open(t, name)
		for r := range 4 {
			for c := range 6 {
				x, y := place(orientation, r, c, p.Width, p.Height)
				near(t, name, p.RGB(y*p.Width+x), pattern(c, r), 0)
			}
		}
	}
	p := open(t, "right-top.jpg") // 96 x 64, every pixel of the pattern 16 x 16 times
	x, y := place(6, 64-8, 8, p.Width, p.Height)
	near(t, p.Name, p.RGB(y*p.Width+x), pattern(0, 3), 6)
}

func TestSamplesOfSixteenBitsAreNotRounded(t *testing.T) {
	m := image.NewNRGBA64(image.Rect(0, 0, 2, 1))
	m.SetNRGBA64(0, 0, color.NRGBA64{R: 0xffff, G: 1, B: 0x1234, A: 0xffff})
	m.SetNRGBA64(1, 0, color.NRGBA64{R: 257, G: 300, B: 0, A: 1})
	p := decode(t, m)
	near(t, "opaque", p.RGB(0), [3]float64{255, 1.0 / 257, 4660.0 / 257}, 0)
	near(t, "nearly transparent", p.RGB(1), [3]float64{1, 300.0 / 257, 0}, 0)
	if !p.Deep || p.Visible() != 2 {
		t.Errorf("deep %t, %d visible", p.Deep, p.Visible())
	}
	g := image.NewGray16(image.Rect(0, 0, 1, 1))
	g.SetGray16(0, 0, color.Gray16{Y: 1000})
	near(t, "gray", decode(t, g).RGB(0), [3]float64{1000.0 / 257, 1000.0 / 257, 1000.0 / 257}, 0)
}

func TestColoursAreNotMultipliedByTheirOpacity(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 3, 1))
	copy(m.Pix, []uint8{100, 50, 0, 100, 30, 20, 10, 255, 7, 7, 7, 0}) // multiplied
	p := fromImage(m, m.Bounds(), 1)
	near(t, "half", p.RGB(0), [3]float64{255, 127.5, 0}, 0.5)
	near(t, "opaque", p.RGB(1), [3]float64{30, 20, 10}, 0)
	if p.Visible() != 2 || !p.Out(2) || p.Out(0) {
		t.Errorf("%d visible", p.Visible())
	}
	a := open(t, "alpha.webp") // its first row is fully transparent
	if a.Visible() != 18 || !a.Out(5) || a.Out(6) || a.opacity(6) != 94 {
		t.Errorf("%d visible, opacity %d", a.Visible(), a.opacity(6))
	}
	near(t, "webp", a.RGB(8), pattern(2, 1), 0)
}

func TestPalettes(t *testing.T) {
	colours := color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{250, 0, 9, 255}, color.NRGBA{}}
	m := image.NewPaletted(image.Rect(0, 0, 3, 1), colours)
	copy(m.Pix, []uint8{1, 0, 2})
	p := decode(t, m)
	near(t, "second entry", p.RGB(0), [3]float64{250, 0, 9}, 0)
	near(t, "first entry", p.RGB(1), [3]float64{1, 2, 3}, 0)
	if !p.Out(2) {
		t.Error("a transparent entry is not out")
	}
	one := image.NewPaletted(image.Rect(0, 0, 9, 1), color.Palette{color.Gray{0}, color.Gray{255}}) // 1 bit a pixel
	one.Pix[8] = 1
	if p := decode(t, one); p.RGB(8)[0] != 255 || p.RGB(7)[0] != 0 || !p.Gray() {
		t.Errorf("%v %v", p.RGB(8), p.RGB(7))
	}
}

// A frame that does not fill its screen leaves the rest transparent.
func TestFrameSmallerThanTheScreen(t *testing.T) {
	m := image.NewNRGBA(image.Rect(1, 1, 3, 2))
	m.SetNRGBA(2, 1, color.NRGBA{9, 8, 7, 255})
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	p := fromImage(m, image.Rect(0, 0, 4, 3), 1)
	if p.Visible() != 2 || p.Out(4+2) || !p.Out(0) {
		t.Errorf("%d visible", p.Visible())
	}
	near(t, "inside", p.RGB(4+2), [3]float64{9, 8, 7}, 0)
}

// header is a PNG that claims a size and holds nothing.
func header(w, h uint32) []byte {
	body := []byte("IHDR")
	body = binary.BigEndian.AppendUint32(body, w)
	body = binary.BigEndian.AppendUint32(body, h)
	body = append(body, 8, 2, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
}

func TestRefusals(t *testing.T) {
	good := encode(t, image.NewGray(image.Rect(0, 0, 9, 9)))
	for _, c := range []struct {
		what   string
		file   []byte
		format string
		want   string
	}{
		{"a bomb", header(60_000, 60_000), "", "a.png: its header says 60000 x 60000 pixels, which is more than the 268435456 (2^28)"},
		{"just too large", header(1<<14, 1<<14+1), "", "(2^28)"},
		{"nothing", nil, "", "a.png: the file is empty"},
		{"text", []byte("hello"), "", "a.png: this is not a picture"},
		{"cut short", good[:len(good)-20], "", "a.png: the png is cut short"},
		{"not what it was said to be", good, "jpeg", "a.png: this cannot be read as jpeg"},
		{"an unknown format", good, "xcf", `a.png: format "xcf" is not known`},
		{"HEIF", []byte("\x00\x00\x00\x18ftypheic\x00\x00"), "", "HEIF or AVIF"},
		{"no pixels", header(0, 5), "", "a.png: "},
	} {
		p, err := Decode(c.file, "a.png", c.format)
		if err == nil || p != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
	if _, err := Decode(header(1<<14, 1<<14), "a.png", ""); err == nil || strings.Contains(err.Error(), "2^28") {
		t.Errorf("the largest picture: %v", err)
	}
	for path, want := range map[string]string{"missing.png": "there is no such file", "testdata": "a folder", "@nobody": "@flower, @china"} {
		if _, err := Open(path, "", nil); err == nil || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A file that ends early is an error with its name, never a panic or a picture of another size.
func TestCutAnywhere(t *testing.T) {
	names, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".py") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Decode(b, name, "")
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(b) {
			p, err := Decode(b[:n], name, "")
			switch {
			case err != nil && !strings.HasPrefix(err.Error(), name+": "):
				t.Fatalf("%d bytes: %v", n, err)
			case err == nil && (p.Pixels() != whole.Pixels()): // what follows the pixels may be missing, orientation too
				t.Fatalf("%s: %d of %d bytes make %d x %d", name, n, len(b), p.Width, p.Height)
			}
		}
	}
}

func TestBuiltinPictures(t *testing.T) {
	for name, file := range map[string][]byte{"@flower": Flower(), "@china": China()} {
		p, err := Open(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Decode(file, name, "jpg")
		if err != nil {
			t.Fatal(err)
		}
		if p.Width != 640 || p.Height != 427 || !strings.Contains(p.Credit, "CC BY 2.0") || !bytes.Equal(p.rgb8, q.rgb8) {
			t.Errorf("%s: %d x %d, %q", name, p.Width, p.Height, p.Credit)
		}
	}
	p, err := Open("-", "", bytes.NewReader(Flower()))
	if err != nil || p.Width != 640 || p.Name != "standard input" {
		t.Errorf("standard input: %v", err)
	}
}

// Whatever a file holds, reading it ends in a picture whose parts fit or in one line with its name.
func FuzzDecode(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.*")
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(b)
		}
	}
	f.Add(header(60_000, 60_000))
	f.Add(withOrientation(encode(f, image.NewGray(image.Rect(0, 0, 3, 2))), 7))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := limits{1 << 20, 1 << 30}.decode(b, "a.bin", "") // a large canvas of little is slow, not wrong
		if err != nil {
			if !strings.HasPrefix(err.Error(), "a.bin: ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		n, visible := p.Pixels(), int64(0)
		if n < 1 || len(p.rgb8) != 3*n && len(p.rgb16) != 3*n {
			t.Fatalf("%d x %d pixels, %d and %d samples", p.Width, p.Height, len(p.rgb8), len(p.rgb16))
		}
		for i := range n {
			if !p.Out(i) {
				visible++
			}
			for _, v := range p.RGB(i) {
				if !(v >= 0 && v <= 255) {
					t.Fatalf("a sample of %v", v)
				}
			}
		}
		if visible != p.Visible() {
			t.Fatalf("%d visible pixels, told are %d", visible, p.Visible())
		}
	})
}
