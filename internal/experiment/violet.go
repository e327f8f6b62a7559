package experiment

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/rng"
)

// Size of the generated picture: that of the photograph in the paper, 81,472 pixels.
const (
	violetWidth  = 304
	violetHeight = 268
)

// Violet is the generated picture of a St. Paulia: 304 x 268 pixels of 8-bit RGB, row by row. Its leaves are dark, with
// lighter veins and yellowish rims, its petals violet with shading; each flower has a tiny yellow centre. Borders are
// blurred, so that the colours of the centres run into those of petals and leaves.
type Violet struct {
	RGB []uint8 // 3 numbers a pixel
	// Centre tells which pixels are at least half covered by a yellow centre: about one in a thousand.
	Centre []bool
}

// NewViolet draws the picture of a seed.
func NewViolet(seed uint64) *Violet {
	s := newScene(seed)
	const w, h = violetWidth, violetHeight
	v := &Violet{RGB: make([]uint8, 3*w*h), Centre: make([]bool, w*h)}
	image := make([]float64, 3*w*h)
	for i := range w * h {
		inside := 0
		for sub := range fine * fine {
			x := float64(i%w) + (float64(sub%fine)+0.5)/fine
			y := float64(i/w) + (float64(sub/fine)+0.5)/fine
			c, centre := s.at(x, y)
			if centre {
				inside++
			}
			for j := range 3 {
				image[3*i+j] += c[j] / (fine * fine)
			}
		}
		v.Centre[i] = 2*inside >= fine*fine
	}
	blur(image, w, h, 3, lens)
	for i, x := range image {
		v.RGB[i] = uint8(math.Round(min(max(x+grain*s.rng.NormFloat64(), 0), 255)))
	}
	return v
}

// How the scene is photographed.
const (
	fine  = 3    // samples a pixel, each way
	lens  = 0.55 // standard deviation of the blur, pixels
	grain = 3.5  // standard deviation of the noise, levels
)

// colour is red, green and blue in levels.
type colour [3]float64

// mix returns a + t (b - a), t held to 0..1.
func mix(a, b colour, t float64) colour {
	t = min(max(t, 0), 1)
	for j := range a {
		a[j] += t * (b[j] - a[j])
	}
	return a
}

// shade multiplies a colour.
func shade(c colour, t float64) colour {
	for j := range c {
		c[j] *= t
	}
	return c
}

// The palette.
var (
	ground      = colour{34, 38, 30}
	leafDark    = colour{32, 64, 36}
	leafLight   = colour{88, 128, 62}
	leafRim     = colour{150, 162, 78}
	leafSpot    = colour{206, 176, 74}
	petalDeep   = colour{74, 34, 122}
	petalLight  = colour{168, 112, 204}
	petalThroat = colour{52, 20, 84}
	anther      = colour{196, 166, 54}
	antherShade = colour{166, 140, 48}
)

// scene is the plant: leaves below, flowers above.
type scene struct {
	rng     *rand.Rand
	lattice []float64 // of the texture
	leaves  []leaf
	flowers []flower
}

// leaf is an ellipse with a midrib. Units are pixels.
type leaf struct {
	x, y, long, wide float64
	cos, sin         float64
	light            float64 // brightness, about 1
}

// flower is five petals around a throat with two anthers.
type flower struct {
	x, y, size float64
	turn       float64
	light      float64
	petals     []leaf
}

// newScene places leaves and flowers at random, with some room between flowers.
func newScene(seed uint64) *scene {
	s := &scene{rng: rng.Violet.New(seed), lattice: make([]float64, latticeSize*latticeSize)}
	for i := range s.lattice {
		s.lattice[i] = s.rng.Float64()
	}
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*s.rng.Float64() }
	for i := range 26 {
		turn := between(0, 2*math.Pi)
		far := between(10, 150)
		if i < 8 {
			far = between(110, 160) // the outer leaves lie lowest
		}
		long := between(34, 56)
		s.leaves = append(s.leaves, leaf{
			x: violetWidth/2 + far*math.Cos(turn), y: violetHeight/2 + 0.85*far*math.Sin(turn), long: long, wide: long * between(0.62, 0.8),
			cos: math.Cos(turn), sin: math.Sin(turn), light: between(0.65, 1.15),
		})
	}
	for tries := 0; len(s.flowers) < violetFlowers && tries < 10_000; tries++ {
		f := flower{x: between(60, violetWidth-60), y: between(55, violetHeight-55), size: between(17, 23), turn: between(0, 2*math.Pi), light: between(0.8, 1.1)}
		if slices.ContainsFunc(s.flowers, func(g flower) bool { return math.Hypot(f.x-g.x, f.y-g.y) < 0.75*(f.size+g.size) }) {
			continue
		}
		for p := range 5 {
			turn := f.turn + float64(p)*2*math.Pi/5 + between(-0.12, 0.12)
			long := f.size * between(0.5, 0.62)
			f.petals = append(f.petals, leaf{
				x: f.x + 0.58*f.size*math.Cos(turn), y: f.y + 0.58*f.size*math.Sin(turn), long: long, wide: long * between(0.78, 0.95),
				cos: math.Cos(turn), sin: math.Sin(turn), light: between(0.85, 1.1),
			})
		}
		s.flowers = append(s.flowers, f)
	}
	return s
}

// violetFlowers is the number of flowers; their centres cover about a thousandth of the picture.
const violetFlowers = 5

// at returns the colour at a point of the plane, and whether it is a yellow centre.
func (s *scene) at(x, y float64) (c colour, centre bool) {
	for i := len(s.flowers) - 1; i >= 0; i-- {
		if c, centre, ok := s.flower(&s.flowers[i], x, y); ok {
			return c, centre
		}
	}
	for i := len(s.leaves) - 1; i >= 0; i-- {
		if u, v, r := s.leaves[i].at(x, y); r < 1 {
			return s.leaf(&s.leaves[i], x, y, u, v, r), false
		}
	}
	return shade(ground, 0.75+0.6*s.texture(x/9, y/9)), false
}

// at returns the place of a point in the leaf: along, across (both from -1 to 1) and the elliptical radius.
func (l *leaf) at(x, y float64) (u, v, r float64) {
	x, y = x-l.x, y-l.y
	u, v = (x*l.cos+y*l.sin)/l.long, (y*l.cos-x*l.sin)/l.wide
	return u, v, math.Hypot(u, v)
}

// leaf returns the colour of a leaf: dark between the veins, light on them, yellowish at the rim, in shadow on one side.
func (s *scene) leaf(l *leaf, x, y, u, v, r float64) colour {
	rib := math.Exp(-v * v * l.wide * l.wide / 1.6)
	branch := math.Sin(9*(u-0.7*math.Abs(v))) * 0.5 * (1 - r*r)
	vein := max(rib, max(branch, 0)*0.55)
	fleck := s.texture(x/3.1, y/3.1)*0.6 + s.texture(x/11, y/11)*0.8
	c := mix(leafDark, leafLight, 0.55*vein+0.5*fleck-0.12)
	rim := (r - 0.93) / 0.07
	c = mix(c, leafRim, 0.75*rim*s.texture(x/7+40, y/7))
	c = mix(c, leafSpot, (s.texture(x/2.3+17, y/2.3+29)*0.5+s.texture(x/13+5, y/13+51)*0.9-spotAt)*2.5)
	light := l.light * (0.82 + 0.3*(u*l.cos-v*l.sin)*-0.5 + 0.25*s.texture(x/30, y/30))
	return shade(c, light)
}

// flower returns the colour of a flower where it covers the point.
func (s *scene) flower(f *flower, x, y float64) (c colour, centre, ok bool) {
	dx, dy := x-f.x, y-f.y
	far := math.Hypot(dx, dy)
	if far > 1.3*f.size {
		return c, false, false
	}
	// Two anthers side by side, each a small disc, brighter on one side.
	for _, side := range []float64{-1, 1} {
		ax, ay := dx-side*antherApart*math.Cos(f.turn), dy-side*antherApart*math.Sin(f.turn)
		if r := math.Hypot(ax, ay) / antherRadius; r < 1 {
			return shade(mix(anther, antherShade, 0.5*r*r+0.35*(ay/antherRadius)), 0.75+0.25*f.light), true, true
		}
	}
	at := slices.MinFunc(f.petals, func(a, b leaf) int {
		_, _, ra := a.at(x, y)
		_, _, rb := b.at(x, y)
		return cmp.Compare(ra, rb)
	})
	u, v, r := at.at(x, y)
	if r >= 1 && far >= 0.25*f.size {
		return c, false, false
	}
	streak := 0.5 + 0.5*math.Sin(11*v+4*s.texture(x/8, y/8))
	c = mix(petalDeep, petalLight, 0.32+0.34*u+0.16*streak+0.35*(s.texture(x/6, y/6)-0.5))
	c = mix(petalThroat, c, (far-1.2)/(0.3*f.size))
	edge := min(max((1-r)/0.12, 0), 1)
	return shade(c, f.light*at.light*(0.72+0.28*edge)), false, true
}

// Size of an anther, pixels: five flowers of two anthers cover about 80 of the 81,472 pixels.
const (
	antherRadius = 1.62
	antherApart  = 1.7
)

// spotAt says how rare spots of withered leaf are.
const spotAt = 0.9

const latticeSize = 64

// texture is smooth noise between 0 and 1 with a scale of one unit.
func (s *scene) texture(x, y float64) float64 {
	ix, iy := math.Floor(x), math.Floor(y)
	fx, fy := smooth(x-ix), smooth(y-iy)
	at := func(i, j float64) float64 {
		return s.lattice[(int(j)&(latticeSize-1))*latticeSize+int(i)&(latticeSize-1)]
	}
	top := at(ix, iy) + fx*(at(ix+1, iy)-at(ix, iy))
	low := at(ix, iy+1) + fx*(at(ix+1, iy+1)-at(ix, iy+1))
	return top + fy*(low-top)
}

func smooth(t float64) float64 { return t * t * (3 - 2*t) }

// blur convolves an image with a Gaussian of standard deviation sd, along rows and then along columns. Beyond the edge
// it goes on as at the edge.
func blur(image []float64, w, h, channels int, sd float64) {
	reach := int(math.Ceil(3 * sd))
	weight := make([]float64, 2*reach+1)
	sum := 0.0
	for i := range weight {
		t := float64(i-reach) / sd
		weight[i] = math.Exp(-t * t / 2)
		sum += weight[i]
	}
	along := func(n, step, start int) {
		line := make([]float64, n)
		for i := range line {
			line[i] = image[start+i*step]
		}
		for i := range line {
			v := 0.0
			for j, g := range weight {
				v += g / sum * line[min(max(i+j-reach, 0), n-1)]
			}
			image[start+i*step] = v
		}
	}
	for c := range channels {
		for y := range h {
			along(w, channels, y*w*channels+c)
		}
		for x := range w {
			along(h, w*channels, x*channels+c)
		}
	}
}
