package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
)

// Limits of what is read: a small file can claim to be a huge picture.
const (
	MaxPixels = 1 << 28 // pixels of a picture: 16,384 x 16,384
	MaxBytes  = 1 << 31 // bytes of a file
)

// format is a kind of file. The formats are known by what a file begins with, where ? is any byte.
type format struct {
	name   string
	begins []string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var formats = []format{
	{"png", []string{"\x89PNG\r\n\x1a\n"}, png.DecodeConfig, png.Decode},
	{"jpeg", []string{"\xff\xd8"}, jpeg.DecodeConfig, jpeg.Decode},
	{"gif", []string{"GIF87a", "GIF89a"}, gif.DecodeConfig, gif.Decode},
	{"bmp", []string{"BM????\x00\x00\x00\x00"}, bmp.DecodeConfig, bmp.Decode},
	{"tiff", []string{"II\x2a\x00", "MM\x00\x2a"}, tiff.DecodeConfig, tiff.Decode},
	{"webp", []string{"RIFF????WEBPVP8"}, webp.DecodeConfig, webp.Decode},
}

// Formats returns the names of the formats that can be read.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// formatNamed returns a format by name or by an ending of file names.
func formatNamed(name string) (*format, bool) {
	name = strings.ToLower(name)
	if full, short := map[string]string{"jpg": "jpeg", "tif": "tiff"}[name]; short {
		name = full
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return nil, false
	}
	return &formats[i], true
}

// KnownFormat reports whether name is a format that can be read; jpg and tif are short for two of them.
func KnownFormat(name string) bool {
	_, ok := formatNamed(name)
	return ok
}

// sniff returns the format that a file is in by what it begins with.
func sniff(b []byte) (*format, bool) {
	for i := range formats {
		for _, magic := range formats[i].begins {
			if len(b) < len(magic) {
				continue
			}
			fits := true
			for j := range len(magic) {
				fits = fits && (magic[j] == '?' || magic[j] == b[j])
			}
			if fits {
				return &formats[i], true
			}
		}
	}
	return nil, false
}

// Open reads a picture: a file, - for standard input, or the name of a built-in picture after an @. The contents tell the
// format unless it is named. It may take as much memory as data.DefaultMaxMemory says.
func Open(path, format string, stdin io.Reader) (*Picture, error) {
	return OpenWithin(path, format, stdin, data.DefaultMaxMemory())
}

// OpenWithin is Open that takes at most memory bytes: for the file, for the image it unpacks to and for the picture that
// is made of it. What its header says would take more is a data.MemoryError, before it is unpacked.
func OpenWithin(path, format string, stdin io.Reader, memory int64) (*Picture, error) {
	l := limits{MaxPixels, memory}
	switch name, isBuiltin := strings.CutPrefix(path, "@"); {
	case isBuiltin:
		var names []string
		for _, b := range builtin {
			if names = append(names, "@"+b.name); b.name != name {
				continue
			}
			p, err := l.decode(b.file, path, format)
			if err == nil {
				p.Credit = b.credit
			}
			return p, err
		}
		return nil, fmt.Errorf("%s: there is no built-in picture of this name; there are %s", path, strings.Join(names, ", "))
	case path == "-":
		return l.read(stdin, 0, data.StandardInput, format)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", path)
	}
	if err != nil {
		return nil, cause(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, cause(path, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: this is a folder, not a picture", path)
	}
	return l.read(f, info.Size(), path, format)
}

// cause is an error of the system under the name of the file, once.
func cause(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// limits are what a picture may have: pixels, and bytes of memory while it is read.
type limits struct{ pixels, memory int64 }

// read reads all of r, about size bytes.
func (l limits) read(r io.Reader, size int64, name, format string) (*Picture, error) {
	var b bytes.Buffer
	if size > 0 && size <= min(MaxBytes, l.memory) {
		b.Grow(int(size) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(r, min(MaxBytes, l.memory)+1))
	if err != nil {
		return nil, cause(name, err)
	}
	if n > l.memory {
		return nil, &data.MemoryError{File: name, Max: l.memory}
	}
	if n > MaxBytes {
		return nil, fmt.Errorf("%s: the file is larger than the %d bytes (2 GiB) that are read", name, int64(MaxBytes))
	}
	return l.decode(b.Bytes(), name, format)
}

// Decode makes a picture of the contents of a file. name is for messages; format "" goes by the contents. A header that
// claims more than MaxPixels is refused before anything is decoded. Of several frames or pages the first is taken, which
// Notes says.
func Decode(b []byte, name, format string) (*Picture, error) {
	return limits{MaxPixels, data.DefaultMaxMemory()}.decode(b, name, format)
}

// decode is Decode within the limits.
func (l limits) decode(b []byte, name, format string) (*Picture, error) {
	most := l.pixels
	f, ok := sniff(b)
	if format != "" {
		if f, ok = formatNamed(format); !ok {
			return nil, fmt.Errorf("%s: format %q is not known; choose one of %s", name, format, strings.Join(Formats(), ", "))
		}
	}
	switch {
	case len(b) == 0:
		return nil, fmt.Errorf("%s: the file is empty", name)
	case !ok && len(b) > 11 && string(b[4:8]) == "ftyp":
		return nil, fmt.Errorf("%s: pictures like this (HEIF or AVIF) cannot be read; convert it to one of %s", name, strings.Join(Formats(), ", "))
	case !ok:
		return nil, fmt.Errorf("%s: this is not a picture that can be read: it begins like none of %s", name, strings.Join(Formats(), ", "))
	}
	c, err := guarded(f.config, b)
	if err != nil {
		return nil, damaged(name, f, err)
	}
	if c.Width < 1 || c.Height < 1 {
		return nil, fmt.Errorf("%s: a picture of %d x %d has no pixels", name, c.Width, c.Height)
	}
	if int64(c.Width) > most/int64(c.Height) {
		return nil, fmt.Errorf("%s: its header says %d x %d pixels, which is more than the %d (2^%d) that a picture may have", name, c.Width, c.Height, most, bits.Len64(uint64(most))-1)
	}
	if need := unpackedBytes(c) + int64(len(b)); need > l.memory {
		what := fmt.Sprintf("%s x %s pixels", text.Thousands(int64(c.Width)), text.Thousands(int64(c.Height)))
		return nil, &data.MemoryError{File: name, What: what, Need: need, Max: l.memory, Stream: true}
	}
	img, err := guarded(f.decode, b)
	if err != nil {
		return nil, damaged(name, f, err)
	}
	p := fromImage(img, image.Rect(0, 0, c.Width, c.Height), orientation(b, f.name))
	p.Name, p.Format, p.Notes = name, f.name, several(b, f.name)
	return p, nil
}

// unpackedBytes is what the image of a file takes, at most, with the picture that is made of it: 4 samples a pixel each, of
// 8 bits or of 16.
func unpackedBytes(c image.Config) int64 {
	pixels := int64(c.Width) * int64(c.Height)
	switch c.ColorModel {
	case color.Gray16Model, color.NRGBA64Model, color.RGBA64Model:
		return 16 * pixels
	}
	return 8 * pixels
}

// guarded calls a decoder. Some are written by others and meant for files that are whole: a panic is an error here.
func guarded[T any](decode func(io.Reader) (T, error), b []byte) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder gave up: %v", r)
		}
	}()
	return decode(bytes.NewReader(b))
}

// damaged says what is wrong with a file that begins as one of the format.
func damaged(name string, f *format, err error) error {
	why := err.Error()
	if strings.HasSuffix(why, "EOF") || strings.HasSuffix(why, "not enough pixel data") || strings.HasSuffix(why, "not enough image data") {
		return fmt.Errorf("%s: the %s is cut short", name, f.name)
	}
	if at := strings.IndexByte(why, '\n'); at >= 0 {
		why = why[:at]
	}
	why = strings.TrimPrefix(strings.TrimPrefix(why, f.name+": "), "invalid format: ")
	return fmt.Errorf("%s: this cannot be read as %s: %s", name, f.name, why)
}
