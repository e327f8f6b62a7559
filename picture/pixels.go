package picture

import (
	"image"
	"image/color"
)

// fromImage copies the part of an image inside frame, turned upright from its EXIF orientation. What of the frame the
// image does not cover is transparent.
func fromImage(img image.Image, frame image.Rectangle, orientation int) *Picture {
	p := &Picture{Width: frame.Dx(), Height: frame.Dy()}
	if orientation > 4 {
		p.Width, p.Height = p.Height, p.Width
	}
	switch img.(type) {
	case *image.Gray16, *image.NRGBA64, *image.RGBA64:
		p.Deep = true
		p.rgb16, p.alpha16 = copyPixels(img, frame, orientation, row16)
	default:
		p.rgb8, p.alpha8 = copyPixels(img, frame, orientation, row8)
	}
	p.survey()
	return p
}

// copyPixels reads an image row by row and puts each pixel where it belongs.
func copyPixels[T uint8 | uint16](img image.Image, frame image.Rectangle, orientation int, read func(img image.Image, y int, rgb, alpha []T)) (rgb, alpha []T) {
	w, h := frame.Dx(), frame.Dy()
	rgb, alpha = make([]T, 3*w*h), make([]T, w*h)
	b := img.Bounds().Intersect(frame)
	rowRGB, rowAlpha := make([]T, 3*b.Dx()), make([]T, b.Dx())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		if orientation <= 1 {
			at := (y-frame.Min.Y)*w + b.Min.X - frame.Min.X
			read(img, y, rgb[3*at:3*(at+b.Dx())], alpha[at:at+b.Dx()])
			continue
		}
		read(img, y, rowRGB, rowAlpha)
		for x := range rowAlpha {
			at := upright(b.Min.X-frame.Min.X+x, y-frame.Min.Y, w, h, orientation)
			copy(rgb[3*at:3*at+3], rowRGB[3*x:])
			alpha[at] = rowAlpha[x]
		}
	}
	return rgb, alpha
}

// upright returns the number of the pixel that pixel (x, y) of a stored picture of w x h becomes when it is turned upright
// (EXIF 2.3, tag 0x0112: where the stored first row and first column are seen).
func upright(x, y, w, h, orientation int) int {
	switch orientation {
	case 2: // top, right: mirrored
		return y*w + w - 1 - x
	case 3: // bottom, right: upside down
		return (h-1-y)*w + w - 1 - x
	case 4: // bottom, left
		return (h-1-y)*w + x
	case 5: // left, top: transposed
		return x*h + y
	case 6: // right, top: to be turned a quarter clockwise
		return x*h + h - 1 - y
	case 7: // right, bottom
		return (w-1-x)*h + h - 1 - y
	case 8: // left, bottom: to be turned a quarter counterclockwise
		return (w-1-x)*h + y
	}
	return y*w + x
}

// row8 reads row y of an image, from the left, as many pixels as alpha has room for.
func row8(img image.Image, y int, rgb, alpha []uint8) {
	x0 := img.Bounds().Min.X
	for i := range alpha {
		alpha[i] = 255
	}
	switch m := img.(type) {
	case *image.YCbCr:
		for i := range alpha {
			c := m.COffset(x0+i, y)
			rgb[3*i], rgb[3*i+1], rgb[3*i+2] = color.YCbCrToRGB(m.Y[m.YOffset(x0+i, y)], m.Cb[c], m.Cr[c])
		}
	case *image.NYCbCrA:
		row8(&m.YCbCr, y, rgb, alpha)
		copy(alpha, m.A[m.AOffset(x0, y):])
	case *image.Gray:
		for i, v := range m.Pix[m.PixOffset(x0, y):][:len(alpha)] {
			rgb[3*i], rgb[3*i+1], rgb[3*i+2] = v, v, v
		}
	case *image.NRGBA:
		px := m.Pix[m.PixOffset(x0, y):]
		for i := range alpha {
			copy(rgb[3*i:3*i+3], px[4*i:])
			alpha[i] = px[4*i+3]
		}
	case *image.RGBA:
		px := m.Pix[m.PixOffset(x0, y):]
		for i := range alpha {
			alpha[i] = px[4*i+3]
			for j, v := range px[4*i : 4*i+3] {
				rgb[3*i+j] = uint8(divided(uint32(v), uint32(alpha[i]), 255))
			}
		}
	case *image.CMYK:
		px := m.Pix[m.PixOffset(x0, y):]
		for i := range alpha {
			rgb[3*i], rgb[3*i+1], rgb[3*i+2] = color.CMYKToRGB(px[4*i], px[4*i+1], px[4*i+2], px[4*i+3])
		}
	case *image.Paletted:
		// A damaged file may point beyond its palette: such pixels are transparent.
		colours := make([]color.NRGBA, 256)
		for i, c := range m.Palette[:min(len(m.Palette), 256)] {
			colours[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
		}
		for i, v := range m.Pix[m.PixOffset(x0, y):][:len(alpha)] {
			c := colours[v]
			rgb[3*i], rgb[3*i+1], rgb[3*i+2], alpha[i] = c.R, c.G, c.B, c.A
		}
	default:
		for i := range alpha {
			c := color.NRGBAModel.Convert(img.At(x0+i, y)).(color.NRGBA)
			rgb[3*i], rgb[3*i+1], rgb[3*i+2], alpha[i] = c.R, c.G, c.B, c.A
		}
	}
}

// row16 is row8 for the images that have 16 bits a sample.
func row16(img image.Image, y int, rgb, alpha []uint16) {
	x0 := img.Bounds().Min.X
	for i := range alpha {
		alpha[i] = 0xffff
	}
	word := func(px []uint8, i int) uint16 { return uint16(px[2*i])<<8 | uint16(px[2*i+1]) }
	switch m := img.(type) {
	case *image.Gray16:
		px := m.Pix[m.PixOffset(x0, y):]
		for i := range alpha {
			v := word(px, i)
			rgb[3*i], rgb[3*i+1], rgb[3*i+2] = v, v, v
		}
	case *image.NRGBA64:
		px := m.Pix[m.PixOffset(x0, y):]
		for i := range alpha {
			rgb[3*i], rgb[3*i+1], rgb[3*i+2], alpha[i] = word(px, 4*i), word(px, 4*i+1), word(px, 4*i+2), word(px, 4*i+3)
		}
	case *image.RGBA64:
		px := m.Pix[m.PixOffset(x0, y):]
		for i := range alpha {
			alpha[i] = word(px, 4*i+3)
			for j := range 3 {
				rgb[3*i+j] = uint16(divided(uint32(word(px, 4*i+j)), uint32(alpha[i]), 0xffff))
			}
		}
	}
}

// divided takes the opacity out of a sample that was multiplied by it, rounded. A sample may not be above its opacity.
func divided(v, alpha, most uint32) uint32 {
	switch {
	case alpha == most:
		return v
	case alpha == 0:
		return 0
	}
	return min(most, (v*most+alpha/2)/alpha)
}
