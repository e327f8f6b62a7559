package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/bep/imagemeta"
)

var metaFormats = map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "tiff": imagemeta.TIFF, "webp": imagemeta.WebP}

// orientation returns the orientation that the EXIF of a file tells, 1 to 8; 1, upright, where there is none or it makes
// no sense.
func orientation(b []byte, format string) int {
	f, ok := metaFormats[format]
	if !ok {
		return 1
	}
	found := 1
	isIt := func(t imagemeta.TagInfo) bool { return t.Tag == "Orientation" && t.Namespace == "IFD0" }
	// An error of what surrounds a picture, before or after the tag, is none of the picture.
	_, _ = imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(b), ImageFormat: f, Sources: imagemeta.EXIF, ShouldHandleTag: isIt,
		HandleTag: func(t imagemeta.TagInfo) error {
			v := 0
			switch value := t.Value.(type) {
			case uint16:
				v = int(value)
			case uint32:
				v = int(min(value, 9))
			}
			if isIt(t) && v >= 1 && v <= 8 {
				found = v
			}
			return imagemeta.ErrStopWalking
		},
	})
	return found
}

// several says that a file has more pictures than the first.
func several(b []byte, format string) []string {
	switch {
	case format == "gif" && gifFrames(b) > 1:
		return []string{fmt.Sprintf("the first of %d frames is read", gifFrames(b))}
	case format == "tiff" && tiffPages(b) > 1:
		return []string{"the first of several pages is read"}
	}
	return nil
}

// gifFrames counts the pictures of a GIF by walking over its blocks without unpacking them (GIF89a, appendix A).
func gifFrames(b []byte) (n int) {
	table := func(flags byte) int { // bytes of a colour table
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	at := 13
	if len(b) < at {
		return 0
	}
	at += table(b[10])
	for at < len(b) {
		switch b[at] {
		case 0x21: // extension: its kind, then blocks
			at += 2
		case 0x2c: // a picture: 9 bytes of place and flags, a colour table, the size of codes, then blocks
			if at+10 > len(b) {
				return n
			}
			n++
			at += 11 + table(b[at+9])
		default: // the end
			return n
		}
		for at < len(b) && b[at] != 0 {
			at += 1 + int(b[at])
		}
		at++
	}
	return n
}

// tiffPages counts the pages of a TIFF, to 2 at most: a directory of entries ends with the place of the next one.
func tiffPages(b []byte) int {
	if len(b) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 0
	}
	at += 2 + 12*int64(order.Uint16(b[at:]))
	if at+4 > int64(len(b)) || order.Uint32(b[at:]) == 0 {
		return 1
	}
	return 2
}
