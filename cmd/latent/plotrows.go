package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// plotFlags ask for a drawing on the terminal.
type plotFlags struct {
	draw     bool
	window   string // --range
	noColour bool
}

func (f *plotFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.draw, "plot", false, "draw the groups on the two columns that tell them apart best")
	cmd.Flags().StringVar(&f.window, "range", "", "what the drawing shows, x0:x1,y0:y1, to keep its scale from call to call; found from the groups and rows otherwise")
}

// page returns the page to draw on.
func (f *plotFlags) page(w io.Writer) (plotPage, error) {
	p := pageOf(w, f.noColour)
	if f.window == "" {
		return p, nil
	}
	if !f.draw {
		return p, usagef("--range is of a drawing: it has no effect without --plot")
	}
	sides := strings.Split(f.window, ",")
	for _, side := range sides {
		from, to, cut := strings.Cut(side, ":")
		lo, err1 := parseFloat(from)
		hi, err2 := parseFloat(to)
		if len(sides) > 2 || !cut || err1 != nil || err2 != nil || !(lo < hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
			return p, usagef("--range %s is not x0:x1,y0:y1, such as 0:10,-5:5, each with the smaller number first; y0:y1 may be left out", text.ShellWord(f.window))
		}
		p.window = append(p.window, [2]float64{lo, hi})
	}
	return p, nil
}

// mostDrawn is how many rows a drawing shows at most: a terminal has some ten thousand dots.
const mostDrawn = 1000

// drawnRows are rows of a drawing.
type drawnRows struct {
	at    [][2]float64 // x and y
	label []int        // of each, from 0
	all   int64        // how many rows have both cells
	gaps  int64        // how many lack one
}

// rowSource is where the rows of a drawing come from; a nil one has none.
type rowSource struct {
	ctx     context.Context
	model   *model.Model
	src     data.Source // its columns are the model's, in the user's units
	threads int

	sequences []string // the names of the sequences; nil where they have none
}

// gather reads the rows at variables jx and jy of a view, jy below 0 for one variable alone. Of many rows it keeps a sample, the same in every
// call (Vitter 1985, algorithm R).
func (s *rowSource) gather(v *view, jx, jy int) (_ *drawnRows, err error) {
	src, err := data.Checked(s.src)
	if err != nil {
		return nil, err
	}
	below := src // what the variables of the view are read from
	if changes := s.model.Changes(); changes != nil {
		below = changes.Rows(src)
	}
	reader, err := below.Open(s.ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := reader.Close(); err == nil {
			err = closed
		}
	}()
	rows, chance := &drawnRows{}, rng.Terminal.New()
	var raw data.Block
	return rows, s.model.Rows(s.ctx, src, s.threads, func(scored *model.Scored) error {
		if err := reader.Read(&raw, scored.N); err != nil {
			return err
		}
		for i, label := range scored.Label {
			at := [2]float64{v.cell(&raw, scored.Block, i, jx)}
			if jy >= 0 {
				at[1] = v.cell(&raw, scored.Block, i, jy)
			}
			if scored.Weight(i) != 0 {
				rows.add(at, int(label), chance.Int64N)
			}
		}
		return nil
	})
}

// cell returns the cell of row i at variable j of the view, in its units: of the rows as the user has them, or as the model sees them.
func (v *view) cell(raw, fitted *data.Block, i, j int) float64 {
	if v.inside {
		return fitted.At(i, j)
	}
	return raw.At(i, v.columns[j])
}

// add adds a row, or lets it take the place of another.
func (r *drawnRows) add(at [2]float64, label int, chance func(int64) int64) {
	if at[0] != at[0] || at[1] != at[1] {
		r.gaps++
		return
	}
	r.all++
	if len(r.at) < mostDrawn {
		r.at, r.label = append(r.at, at), append(r.label, label)
		return
	}
	if i := chance(r.all); i < mostDrawn {
		r.at[i], r.label[i] = at, label
	}
}

// widen widens ranges so that the rows lie in them.
func (r *drawnRows) widen(x, y *[2]float64) {
	if r == nil {
		return
	}
	for _, at := range r.at {
		for i, e := range []*[2]float64{x, y} {
			e[0], e[1] = min(e[0], at[i]), max(e[1], at[i])
		}
	}
}

// draw sets a dot for every row.
func (r *drawnRows) draw(p *framed) {
	if r == nil {
		return
	}
	for i, at := range r.at {
		p.canvas.set(dot(p.x.at(at[0])), dot(p.y.at(at[1])), r.label[i]+1)
	}
}

// tell says which rows are drawn, and how many are outside of what is shown.
func (r *drawnRows) tell(x, y [2]float64) string {
	if r == nil {
		return ""
	}
	s := "; a dot is a row"
	if int64(len(r.at)) < r.all {
		s += fmt.Sprintf(" (%s of %s, drawn at random with seed %d)", text.Thousands(int64(len(r.at))), text.Thousands(r.all), rng.Terminal.Seed())
	}
	if r.gaps > 0 {
		s += fmt.Sprintf("; %s without one of the two cells %s left out", text.Count(r.gaps, "row"), text.Form(r.gaps, "is", "are"))
	}
	outside := 0
	for _, at := range r.at {
		if !within(x, at[0]) || !within(y, at[1]) {
			outside++
		}
	}
	if outside > 0 {
		s += fmt.Sprintf("; %s outside", text.Are(outside, "drawn row"))
	}
	return s
}
