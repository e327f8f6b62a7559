package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/picture"
)

// segmentFlags are the flags of segment.
type segmentFlags struct {
	spec                           specFlags
	out                            outputFlags // but for its model and labels, which are a picture here
	picture, labels, palette, mask string
	masks                          int
	format, space                  string
	position                       float64
	sample                         int64
	memory                         memoryFlag
}

func segmentCommand() *cobra.Command {
	var f segmentFlags
	cmd := &cobra.Command{
		Use:     "segment IMAGE -k N",
		Short:   "Group the pixels of a picture by colour and write the picture back",
		Example: "  latent segment flower.jpg -k 40 -o segmented.png",
		Args:    exactly(1, "a picture, - or @name"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.spec.add(cmd)
	cmd.Flags().MarkHidden("binarize")
	cmd.Flags().MarkHidden("noise")
	cmd.Flags().MarkHidden("emission")
	m := cmd.Flags().Lookup("model")
	m.Usage, m.DefValue = "gmm, t, kmeans or kmedians", kind.Gaussian.Name
	c := cmd.Flags()
	c.StringVar(&f.format, "format", "", strings.Join(picture.Formats(), ", ")+"; by content otherwise")
	c.StringVar(&f.space, "space", "rgb", "rgb or lab (CIE L*a*b*): what distances between colours are taken in")
	c.Float64Var(&f.position, "position", 0, "add the place of a pixel to its colour: one pixel counts like this many units of colour")
	c.Int64Var(&f.sample, "sample", 0, "fit to N pixels drawn at random (by --seed); all are labelled")
	c.StringVarP(&f.picture, "output", "o", "", "write the picture with every pixel in its segment's mean colour to this file (.png)")
	c.StringVar(&f.labels, "labels", "", "write the segment of every pixel to this file: .png (label less 1 as gray) or .csv")
	c.StringVar(&f.palette, "palette", "", "write the segments' colours and sizes to this file (.csv)")
	c.StringVar(&f.mask, "masks", "", "write a picture of each of the smallest segments to this folder")
	c.IntVar(&f.masks, "mask-count", 8, "how many masks")
	f.memory.add(cmd)
	o := &f.out
	c.StringVar(&o.trace, "trace", "", "write every E-step and M-step of every start to this file (CSV)")
	c.StringVar(&o.dir, "out", "", "write all of these, a page index.html, model.json and spec.json to this folder, all or none")
	c.BoolVar(&o.allowUnconverged, "allow-unconverged", false, "exit with 0 instead of 3 when not finished")
	c.StringArrayVar(&o.require, "require", nil, "exit with 4 unless the result meets this, such as rmse<10")
	c.BoolVar(&o.json, "json", false, "print the summary as JSON")
	c.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but errors")
	c.BoolVarP(&o.verbose, "verbose", "v", false, "print more: every start, where the time went")
	c.BoolVar(&o.noColor, "no-color", false, "no colours (NO_COLOR is honoured too)")
	c.BoolVar(&o.noProgress, "no-progress", false, "no progress line")
	return cmd
}

// segmented is what segment finds; its JSON is what --json prints.
type segmented struct {
	Width       int     `json:"width"`
	Height      int     `json:"height"`
	Channels    int     `json:"channels"`    // 1 for a gray picture, else 3
	Transparent int64   `json:"transparent"` // pixels that were left out
	Space       string  `json:"space"`
	Position    float64 `json:"position,omitempty"`
	MSE         float64 `json:"mse"`
	RMSE        float64 `json:"rmse"`
	*latent.Result
	Segments []picture.Segment `json:"segments"`

	rows     *picture.Rows
	segments *picture.Segments
}

func (f *segmentFlags) run(cmd *cobra.Command, path string) error {
	began := time.Now()
	spec, err := f.open(cmd, path)
	if err != nil {
		return err
	}
	most := cmp.Or(int64(f.memory), data.DefaultMaxMemory())
	p, err := picture.OpenWithin(path, f.format, cmd.InOrStdin(), most)
	if err != nil {
		return err
	}
	features, err := p.Features(f.space, f.position)
	if err != nil {
		return err
	}
	spec.Columns = features.Columns
	if spec.Scale == "" {
		spec.Scale = "none" // colours have one unit: one that varies most is meant
	}
	warnings, err := f.fewColours(path, features, &spec)
	if err != nil {
		return err
	}
	if err := f.centers(cmd.Context(), &spec); err != nil {
		return err
	}
	if need := p.Bytes() + features.RowBytes(f.sample); need > most {
		return &data.MemoryError{File: nameOf(path), What: text.Count(p.Visible(), "pixel") + " and their rows", Need: need, Max: most, Stream: true}
	}
	rows := features.Rows(f.sample, f.spec.seed)
	read := time.Since(began)
	if f.spec.penalty == "auto" {
		v, err := latent.SuggestPenalty(cmd.Context(), rows.Table, spec, spec.K)
		if wrong := (*latent.SpecError)(nil); errors.As(err, &wrong) {
			return usageError{err}
		}
		if err != nil {
			return fileError(path, err)
		}
		spec.Penalty, spec.K = &v, 0
	}
	trace, see := f.out.watch(cmd, &spec)
	r, err := latent.Fit(cmd.Context(), rows.Table, spec, observers(cmd.Context(), see)...)
	trace.finish()
	if err != nil {
		return fileError(path, err)
	}
	s, err := f.label(context.WithoutCancel(cmd.Context()), features, rows, r) // Ctrl-C ended the climb, not what follows
	if err != nil {
		return fileError(path, err)
	}
	describe(r, &data.Info{Name: cmp.Or(calledIn(cmd.Context(), path), nameOf(path)), Warnings: append(warnings, p.Notes...)}, data.Options{})
	r.Timing.Read = read.Seconds()
	wrote := time.Now()
	if err := f.write(cmd, s, trace); err != nil {
		return err
	}
	r.Timing.Write = time.Since(wrote).Seconds()
	r.Seconds = time.Since(began).Seconds()
	if err := f.tell(cmd, s, features); err != nil {
		return err
	}
	return f.out.end(cmd, s.Result, s)
}

// open turns the flags into a spec before the picture is read.
func (f *segmentFlags) open(cmd *cobra.Command, path string) (latent.Spec, error) {
	if err := applyConfig(cmd, f.spec.config); err != nil {
		return latent.Spec{}, err
	}
	if err := f.validate(cmd, path); err != nil {
		return latent.Spec{}, err
	}
	spec, err := f.spec.spec(cmd)
	if err != nil {
		return spec, err
	}
	if spec.Noise != "" {
		return spec, usagef("--noise does not apply to segment: every pixel belongs to a segment")
	}
	if spec.Penalty != nil && f.spec.init != "auto" {
		return spec, usagef("--init does not apply to --penalty, which starts from the overall mean")
	}
	kind, name, given := strings.Cut(f.spec.init, ":")
	if given {
		switch spec.Init = kind; {
		case kind == "labels":
			return spec, usagef("--init labels: names a column of a table, which a picture does not have")
		case kind != "model" && kind != "centers":
			return spec, usagef("--init %q is not known; choose one of auto, k-means++, random, kmeans, whitened, small-em, mixed, model:FILE, centers:FILE", f.spec.init)
		case name == "":
			return spec, usagef("--init %s needs a name: model:FILE or centers:FILE", kind)
		case kind == "model":
			if spec.Given, err = model.Load(name); err != nil {
				return spec, err
			}
		}
	}
	check := spec
	if kind == "centers" {
		check.Init = "auto" // they are read when the columns are known
	}
	if err := check.ValidateOne(); err != nil {
		return spec, usageError{err}
	}
	if spec.K > picture.MaxSegments {
		return spec, usagef("-k is %d; a picture may have at most %s segments", spec.K, text.Thousands(picture.MaxSegments))
	}
	return spec, nil
}

// validate refuses what cannot be read, fitted or written, before anything is read.
func (f *segmentFlags) validate(cmd *cobra.Command, path string) error {
	switch {
	case f.format != "" && !picture.KnownFormat(f.format):
		return usagef("--format %q is not known; choose one of %s", f.format, strings.Join(picture.Formats(), ", "))
	case f.space != "rgb" && f.space != "lab":
		return usagef("--space %q is not known; choose one of rgb, lab", f.space)
	case !(f.position >= 0) || math.IsInf(f.position, 1):
		return usagef("--position is %v; it must be a finite number that is not negative", f.position)
	case cmd.Flags().Changed("sample") && f.sample < 1:
		return usagef("--sample is %d; it must be at least 1", f.sample)
	case f.masks < 1:
		return usagef("--mask-count is %d; it must be at least 1", f.masks)
	case cmd.Flags().Changed("mask-count") && f.mask == "" && f.out.dir == "":
		return usagef("--mask-count counts masks: give --masks or --out too")
	case f.spec.Model == model.ChainKind || cmd.Flags().Changed("emission"):
		return usagef("--model %s is for rows in time, which pixels are not; leave it out", model.ChainKind)
	case kind.Of(f.spec.Model) != nil && !kind.Of(f.spec.Model).Cells.Units:
		return usagef("--model %s is not for pictures; choose one of %s", f.spec.Model, strings.Join(kind.OfNumbers(), ", "))
	}
	for _, s := range f.out.require {
		if _, err := parseDemand(s); err != nil {
			return err
		}
	}
	return f.validateFiles(path)
}

// fewColours refuses more segments than pixels. Where there are no more colours than segments, every colour becomes one:
// k is lowered, and k-means, which then needs no shape, takes the place of a mixture, whose likelihood would have no bound.
func (f *segmentFlags) fewColours(path string, features *picture.Features, spec *latent.Spec) (warnings []string, err error) {
	p, k := features.Picture, spec.K
	visible := p.Visible()
	hidden := ""
	if visible < int64(p.Pixels()) {
		hidden = " that are not fully transparent"
	}
	switch {
	case int64(k) > visible:
		return nil, fmt.Errorf("%s: -k is %d, but the picture has %s%s", nameOf(path), k, text.Count(visible, "pixel"), hidden)
	case f.sample > 0 && int64(k) > f.sample:
		return nil, usagef("-k is %d, but --sample draws %s", k, text.Count(f.sample, "pixel"))
	}
	for _, name := range features.LeftOut {
		warnings = append(warnings, fmt.Sprintf("%s is the same in every pixel: it is left out", name))
	}
	distinct := features.DistinctColours(max(k, 1) + 1)
	if distinct == 1 {
		warnings = append(warnings, "every pixel has the same colour")
	}
	if f.position > 0 && len(features.Columns) > 0 && slices.ContainsFunc(features.Columns, func(c string) bool { return c == "x" || c == "y" }) {
		return warnings, nil // every pixel is a row of its own
	}
	mixture := kind.Of(spec.Model).Mixture
	if k > distinct || k == distinct && mixture || distinct == 1 {
		if k > distinct {
			warnings = append(warnings, fmt.Sprintf("-k is %d, but the picture has %s: every colour is a segment", k, text.Count(distinct, "colour")))
		}
		if mixture {
			warnings = append(warnings, "k-means is used in place of a mixture, which has no finite likelihood with a segment for every colour")
			spec.Model = kind.KMeans.Name
		}
		*spec = latent.Spec{Model: spec.Model, K: distinct, Seed: spec.Seed, Threads: spec.Threads, Columns: spec.Columns}
		f.spec.penalty = "" // there is nothing to find
	}
	return warnings, nil
}

// centers reads the file of --init centers: columns by name where it has a header, by position where not. A palette that
// segment wrote is one.
func (f *segmentFlags) centers(ctx context.Context, spec *latent.Spec) error {
	if spec.Init != "centers" {
		return nil
	}
	_, name, _ := strings.Cut(f.spec.init, ":")
	o := data.Options{Threads: spec.Threads}
	src, info, err := data.Load(ctx, name, o)
	if err == nil && info.Header {
		o.Exact = spec.Columns
		src, _, err = data.Load(ctx, name, o)
	}
	if err != nil {
		return err
	}
	table, ok := src.(*data.Table)
	if !ok {
		return errors.New(name + ": the centres cannot be held in memory")
	}
	spec.Centers = rowsOf(table)
	if err := spec.ValidateOne(); err != nil {
		return usageError{err}
	}
	return nil
}

// label gives every pixel its segment, and the result its numbers in pixels where a row stood for several.
func (f *segmentFlags) label(ctx context.Context, features *picture.Features, rows *picture.Rows, r *latent.Result) (*segmented, error) {
	p, m := features.Picture, r.Model
	s, err := features.Segment(ctx, m, r.Threads)
	if err != nil {
		return nil, err
	}
	if rows.Table.W != nil {
		count := make([]int64, m.K())
		if err := m.Rows(ctx, rows.Table, r.Threads, func(b *model.Scored) error {
			for i, c := range b.Label {
				count[c] += int64(b.Weight(i))
			}
			return nil
		}); err != nil {
			return nil, err
		}
		for c := range r.Components {
			r.Components[c].Rows = count[c]
		}
		if e := r.StandardErrors; e != nil && e.Rows == r.Rows {
			e.Rows = rows.Pixels
		}
		if r.Starts.DrawnFrom == r.Rows {
			r.Starts.DrawnFrom = rows.Pixels
		}
		r.Rows, m.N = rows.Pixels, new(rows.Pixels)
		m.Provenance.Rows, m.Provenance.GroupRows, m.Provenance.Starts = rows.Pixels, count, r.Starts
	}
	r.Warnings = gatherFloors(r)
	return &segmented{
		Width: p.Width, Height: p.Height, Channels: p.Channels(), Transparent: int64(p.Pixels()) - p.Visible(), Space: f.space, Position: f.position,
		MSE: s.MSE, RMSE: s.RMSE, Result: r, Segments: s.Segment, rows: rows, segments: s,
	}, nil
}

// gatherFloors makes one warning of those about components at the floor: colours of 8 bits lie on a grid, and a component
// likes to settle on a plane of it.
func gatherFloors(r *latent.Result) []model.Warning {
	n := 0
	for _, c := range r.Components {
		if c.AtFloor {
			n++
		}
	}
	if n == 0 {
		return r.Warnings
	}
	warnings := slices.DeleteFunc(slices.Clone(r.Warnings), func(w model.Warning) bool { return w.Code == model.AtFloor })
	what := fmt.Sprintf("at the variance floor: %d of %s, whose pixels are almost equal in some direction", n, text.Count(len(r.Components), "segment"))
	if !strings.HasSuffix(r.Covariance, "spherical") {
		what += "; --covariance spherical would have fewer"
	}
	return append(warnings, model.Warn(model.AtFloor, "%s", what))
}
