package picture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// MaxSegments is how many segments a picture may have: their numbers are kept in 16 bits.
const MaxSegments = 65_535

// Outside is the label of a pixel that is fully transparent and belongs to no segment.
const Outside = math.MaxUint16

// Segment is a group of pixels.
type Segment struct {
	Label  int        `json:"label"`  // of the component of the model, from 1
	Color  [3]float64 `json:"color"`  // the mean red, green and blue of its pixels, 0..255, not rounded
	Pixels int64      `json:"pixels"` // at least 1
	Share  float64    `json:"share"`  // of the visible pixels
}

// Segments are the pixels of a picture in groups.
type Segments struct {
	Picture *Picture
	K       int       // labels of the model; those without a pixel are no segment
	Label   []uint16  // of every pixel: its label, from 0, or Outside
	Segment []Segment // in the order of their labels
	MSE     float64   // root of the squared differences to the picture, summed over pixels and channels: the paper's "MSE"
	RMSE    float64   // root of their mean: per value
}

// Segment labels every visible pixel by a model of these features and takes the mean colour of each segment, whatever the
// features are. threads 0 means all cores.
func (f *Features) Segment(ctx context.Context, m *model.Model, threads int) (*Segments, error) {
	if m.NumLabels() > MaxSegments {
		return nil, fmt.Errorf("%d segments are more than the %d that a picture may have", m.NumLabels(), MaxSegments)
	}
	if m.Noise != nil {
		return nil, errors.New("a model with noise makes no segments: its noise is no segment, and every pixel belongs to one")
	}
	p := f.Picture
	s := &Segments{Picture: p, K: m.NumLabels(), Label: make([]uint16, p.Pixels())}
	if p.visible < int64(p.Pixels()) {
		for i := range s.Label {
			s.Label[i] = Outside
		}
	}
	if f.byColour() {
		c := f.allColours()
		label := make([]uint16, 0, len(c.rgb))
		err := m.Rows(ctx, c.table(f, math.MaxUint32), threads, func(r *model.Scored) error {
			for _, l := range r.Label {
				label = append(label, uint16(l))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i := range p.pixels() {
			s.Label[i] = label[c.of(p, i)]
		}
	} else {
		at := 0
		err := m.Rows(ctx, pixelSource{f}, threads, func(r *model.Scored) error {
			for _, l := range r.Label {
				for p.Out(at) {
					at++
				}
				s.Label[at] = uint16(l)
				at++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	s.colour()
	return s, nil
}

// FromLabels makes segments of a label for every pixel, from 0 to k-1. A fully transparent pixel is Outside whatever its
// label says. label is copied.
func (p *Picture) FromLabels(label []uint16, k int) (*Segments, error) {
	if len(label) != p.Pixels() {
		return nil, fmt.Errorf("%s for %d pixels", text.There(len(label), "label"), p.Pixels())
	}
	if k < 1 || k > MaxSegments {
		return nil, fmt.Errorf("%d segments: there must be from 1 to %d", k, MaxSegments)
	}
	s := &Segments{Picture: p, K: k, Label: slices.Clone(label)}
	for i, l := range s.Label {
		switch {
		case p.Out(i):
			s.Label[i] = Outside
		case int(l) >= k:
			return nil, fmt.Errorf("pixel %d has label %d; labels run from 0 to %d", i, l, k-1)
		}
	}
	if p.visible == 0 {
		return nil, errors.New("every pixel is fully transparent")
	}
	s.colour()
	return s, nil
}

// colour takes the mean colour of each segment, and then the distances to it.
func (s *Segments) colour() {
	p := s.Picture
	sum, n := make([][3]float64, s.K), make([]int64, s.K)
	for i, l := range s.Label {
		if l == Outside {
			continue
		}
		n[l]++
		for j, v := range p.RGB(i) {
			sum[l][j] += v // whole numbers for 8 bits: exact
		}
	}
	for c := range sum {
		if n[c] == 0 {
			continue
		}
		for j := range sum[c] {
			sum[c][j] /= float64(n[c])
		}
		s.Segment = append(s.Segment, Segment{Label: c + 1, Color: sum[c], Pixels: n[c], Share: float64(n[c]) / float64(p.visible)})
	}
	total := 0.0
	for y := range p.Height { // by rows: rounding does not grow with the picture
		row := 0.0
		for i := y * p.Width; i < (y+1)*p.Width; i++ {
			if l := s.Label[i]; l != Outside {
				for j, v := range p.RGB(i) {
					row += (v - sum[l][j]) * (v - sum[l][j])
				}
			}
		}
		total += row
	}
	s.RMSE = math.Sqrt(total / float64(3*p.visible))
	s.MSE = s.RMSE * math.Sqrt(float64(int64(p.Channels())*p.visible))
}

// Smallest returns the smallest segments, most of them at most, the smallest first.
func (s *Segments) Smallest(most int) []Segment {
	out := slices.Clone(s.Segment)
	slices.SortStableFunc(out, func(a, b Segment) int {
		if a.Pixels != b.Pixels {
			return map[bool]int{true: -1, false: 1}[a.Pixels < b.Pixels]
		}
		return a.Label - b.Label
	})
	return out[:min(max(most, 0), len(out))]
}
