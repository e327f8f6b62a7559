"""Make the small pictures of this folder with Pillow: 6 x 4 pixels (40x, 60y, 255-40x), or 16 x 16 of one colour."""
from PIL import Image
w, h = 6, 4
rgb = Image.new("RGB", (w, h))
rgb.putdata([(40 * x, 60 * y, 255 - 40 * x) for y in range(h) for x in range(w)])
rgb.save("rgb.webp", lossless=True)
rgb.save("rgb.tiff", compression="tiff_lzw")
rgb.save("rgb.bmp")
other = Image.eval(rgb, lambda v: 255 - v)
rgb.save("two-frames.gif", save_all=True, append_images=[other])
rgb.save("two-pages.tiff", save_all=True, append_images=[other])
rgb.save("right-top.tiff", tiffinfo={274: 6})
exif = Image.Exif()
exif[274] = 8
rgb.save("left-bottom.webp", lossless=True, exif=exif)
exif[274] = 6
big = rgb.resize((96, 64), Image.NEAREST)
big.save("right-top.jpg", quality=98, subsampling=0, exif=exif)
rgba = rgb.convert("RGBA")
rgba.putalpha(Image.linear_gradient("L").resize((w, h)).point(lambda v: 0 if v < 50 else v))
rgba.save("alpha.webp", lossless=True, exact=True)
Image.new("CMYK", (16, 16), (30, 200, 90, 20)).save("cmyk.jpg", quality=98)
Image.new("L", (16, 16), 77).save("gray.jpg", quality=98)
Image.new("RGB", (16, 16), (200, 40, 90)).save("rgb.jpg", quality=98)
for f in ("cmyk.jpg", "gray.jpg", "rgb.jpg"):
    print(f, Image.open(f).convert("RGB").getpixel((3, 3)))
print(list(rgba.getdata()))
