// Package picture reads a picture as rows of colour and writes the groups that a fit finds in them, its segments, back
// as pictures.
//
//	p, err := picture.Open("flower.jpg", "", nil)
//	f, err := p.Features("rgb", 0)
//	rows := f.Rows(0, 1)
//	r, err := latent.Fit(ctx, rows.Table, latent.Spec{K: 40, Columns: f.Columns})
//	s, err := f.Segment(ctx, r.Fitted, 0)
//	err = s.WritePNG(w)
//
// Colours are sRGB values as they stand in the file, in units of 0..255; samples of 16 bits are divided by 257 and not
// rounded. Pixels are numbered from 0 in reading order: pixel i is at x = i % Width, y = i / Width.
package picture

// A Picture is a picture in memory, upright, with its colours not multiplied by their opacity.
type Picture struct {
	Name          string   // for messages
	Format        string   // of the file: png, jpeg, gif, bmp, tiff or webp
	Width, Height int      // after the orientation of its EXIF was applied
	Deep          bool     // samples have 16 bits
	Credit        string   // of a built-in picture: who made it, and its licence
	Notes         []string // what was read otherwise than a user may expect: the first of several frames

	rgb8, alpha8   []uint8  // 3 samples and 1 a pixel; alpha is nil where every pixel is opaque
	rgb16, alpha16 []uint16 // in their place where Deep
	visible        int64
	gray           bool
	constant       [3]bool // channels that are the same in every visible pixel
}

// Visible returns how many pixels are not fully transparent. Only those have a colour that counts.
func (p *Picture) Visible() int64 { return p.visible }

// Pixels returns how many pixels there are.
func (p *Picture) Pixels() int { return p.Width * p.Height }

// Bytes returns how many bytes of memory the pixels take.
func (p *Picture) Bytes() int64 {
	return int64(len(p.rgb8)+len(p.alpha8)) + 2*int64(len(p.rgb16)+len(p.alpha16))
}

// Gray reports whether red, green and blue are equal in every visible pixel, however the file stores them.
func (p *Picture) Gray() bool { return p.gray }

// Channels is 1 for a gray picture and 3 for others.
func (p *Picture) Channels() int {
	if p.gray {
		return 1
	}
	return 3
}

// Out reports whether pixel i is fully transparent.
func (p *Picture) Out(i int) bool {
	switch {
	case p.alpha8 != nil:
		return p.alpha8[i] == 0
	case p.alpha16 != nil:
		return p.alpha16[i] == 0
	}
	return false
}

// RGB returns the colour of pixel i, each channel from 0 to 255.
func (p *Picture) RGB(i int) [3]float64 {
	if p.Deep {
		s := p.rgb16[3*i : 3*i+3]
		return [3]float64{float64(s[0]) / 257, float64(s[1]) / 257, float64(s[2]) / 257}
	}
	s := p.rgb8[3*i : 3*i+3]
	return [3]float64{float64(s[0]), float64(s[1]), float64(s[2])}
}

// opacity returns the alpha of pixel i in 8 bits. What is not fully transparent does not become so.
func (p *Picture) opacity(i int) uint8 {
	switch {
	case p.alpha8 != nil:
		return p.alpha8[i]
	case p.alpha16 != nil && p.alpha16[i] > 0:
		return uint8(max(1, (uint32(p.alpha16[i])+128)/257))
	case p.alpha16 != nil:
		return 0
	}
	return 255
}

// translucent reports whether some pixel is neither opaque nor fully transparent.
func (p *Picture) translucent() bool {
	for _, a := range p.alpha8 {
		if a != 0 && a != 255 {
			return true
		}
	}
	for _, a := range p.alpha16 {
		if a != 0 && a != 0xffff {
			return true
		}
	}
	return false
}

// survey counts the visible pixels, sees which channels vary and whether all are gray, and drops an alpha that is 1
// everywhere.
func (p *Picture) survey() {
	if p.Deep {
		p.alpha16 = surveyOf(p, p.rgb16, p.alpha16)
	} else {
		p.alpha8 = surveyOf(p, p.rgb8, p.alpha8)
	}
}

func surveyOf[T uint8 | uint16](p *Picture, rgb, alpha []T) (kept []T) {
	var first [3]T
	opaque := true
	p.gray, p.constant = true, [3]bool{true, true, true}
	for i, a := range alpha {
		opaque = opaque && a == ^T(0)
		if a == 0 {
			continue
		}
		s := [3]T(rgb[3*i:])
		if p.visible == 0 {
			first = s
		}
		p.visible++
		p.gray = p.gray && s[0] == s[1] && s[1] == s[2]
		for j, v := range s {
			p.constant[j] = p.constant[j] && v == first[j]
		}
	}
	if opaque {
		return nil
	}
	return alpha
}
