package plan

import (
	"slices"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// What is tried where the spec names neither shapes nor numbers of components.
const (
	// AffordedCells is rows x columns up to which shapes with a part in common are tried, and up to which the range of K grows far.
	AffordedCells   = 1e6
	affordedColumns = 30 // columns up to which whole matrices are tried
	affordedAxes    = 8  // columns up to which shapes are tried that share axes alone

	// MostTried is the largest number of components that is tried where the spec does not say.
	MostTried = 9
)

// Chooses reports whether K or the covariance shape are chosen, so that several candidates are fitted.
func (p *Plan) Chooses() bool {
	return p.Penalty == nil && (p.ranged() || p.K == 0 && p.Mixture() || lists(p.Covariance))
}

// ranged reports whether a range of numbers of components is given.
func (p *Plan) ranged() bool { return p.KRange != [2]int{} }

// shapeNames returns the words of Covariance; none for "all".
func (p *Plan) shapeNames() []string {
	if p.Covariance == "" || strings.EqualFold(p.Covariance, "all") {
		return nil
	}
	words := strings.Split(p.Covariance, ",")
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	return words
}

// named returns the shapes that Covariance names, each once. What cannot be read is left out: validate refuses it.
func (p *Plan) named() (shapes []family.Shape) {
	for _, name := range p.shapeNames() {
		some, _ := family.ParseShapes(name)
		for _, shape := range some {
			if !slices.Contains(shapes, shape) {
				shapes = append(shapes, shape)
			}
		}
	}
	return shapes
}

// CheckFactors refuses shapes with more factors than covariances of d variables can have, and what does not go with factors of more than
// family.NarrowColumns variables. holes tells that cells are missing.
func (p *Plan) CheckFactors(shapes []family.Shape, d int, holes bool) error {
	for _, s := range shapes {
		most := s.MaxFactors(d)
		switch q := s.Factors(); {
		case q == 0:
		case q > most && most == 0:
			return Wrong("Covariance", "%s needs more columns: covariances of %s can have no factors, since one has as many parameters as a whole matrix; use full", s, text.Count(d, "column"))
		case q > most && s.OneUniqueness():
			return Wrong("Covariance", "%s has too many factors for %s: there can be %d at most, one less than columns", s, text.Count(d, "column"), most)
		case q > most:
			return Wrong("Covariance", "%s has too many factors for %s: there can be %d at most, (columns - factors)^2 being at least columns + factors", s, text.Count(d, "column"), most)
		case d <= family.NarrowColumns:
		case holes:
			return Wrong("Covariance", "%s takes rows with missing cells on up to %d columns, but there are %d: use --missing drop, fill the cells first (latent impute), or use diag", s, family.NarrowColumns, d)
		case p.KeepSums:
			return Wrong("KeepSums", "applies to %s on up to %d columns, but there are %d: of more the sums are about the factors of one fit", s, family.NarrowColumns, d)
		}
	}
	return nil
}

// validateFactors refuses what does not go with covariances of few factors.
func (p *Plan) validateFactors() error {
	i := slices.IndexFunc(p.named(), func(s family.Shape) bool { return s.Factors() > 0 })
	if i < 0 {
		return nil
	}
	shape := p.named()[i]
	switch {
	case !p.Kind.Factors:
		return Wrong("Covariance", "%s is for --model %s, whose columns are all numbers; %s takes the shapes without factors", shape, kind.Gaussian.Name, p.Kind.Name)
	case p.Bayes():
		return Wrong("Covariance", "%s has no conjugate prior, which --algorithm vb needs; choose one of %s", shape, text.List(conjugateShapes(), "or"))
	case p.Prior != nil:
		return Wrong("Prior", "does not apply to %s covariances, which have no conjugate prior; leave out --prior", shape)
	case p.RegCovar > 0:
		return Wrong("RegCovar", "does not apply to %s covariances, whose uniquenesses have a floor; leave out --reg-covar", shape)
	}
	return nil
}

// Sizes returns the lowest and the highest number of components to choose from; where the range is left open, those to begin with.
func (p *Plan) Sizes() (lo, hi int) {
	switch {
	case p.K > 0:
		return p.K, p.K
	case p.ranged():
		return p.KRange[0], p.KRange[1]
	}
	return 1, MostTried
}

// OpenRange reports whether neither K nor a range of it is given. The fit then begins with Sizes and lets the range grow.
func (p *Plan) OpenRange() bool { return p.K == 0 && !p.ranged() }

// severalUnits reports whether a shape may be chosen that depends on the units of the columns.
func (p *Plan) severalUnits() bool {
	names := p.shapeNames()
	for _, shape := range p.named() {
		if !shape.Rescales() {
			return true
		}
	}
	return names == nil && (p.Covariance != "" || p.OpenRange())
}

// Shapes returns the covariance shapes to choose from on n rows and d columns, at least one, and those left out because they were not
// asked for and take long.
func (p *Plan) Shapes(n int64, d int) (shapes, left []family.Shape) {
	if p.shapeNames() != nil {
		return p.named(), nil
	}
	asked := p.Covariance != ""
	if !p.Shaped() || !asked && !p.OpenRange() {
		return []family.Shape{family.Full}, nil
	}
	var keys []string
	for _, shape := range family.Shapes() {
		key := p.ModelKey(shape, 2, d)
		switch {
		case slices.Contains(keys, key): // one column has fewer shapes
		case !asked && (shape.Matrix() && d > affordedColumns || sharesAxes(shape) && d > affordedAxes || shape.Parsimonious() && float64(n)*float64(d) > AffordedCells):
			left = append(left, shape)
		default:
			shapes, keys = append(shapes, shape), append(keys, key)
		}
	}
	return shapes, left
}

// sharesAxes reports whether components share the axes but not the ellipsoid. Their M-step iterates: on 178 rows of 13 columns
// VVE took twenty times as long as VVV for k = 1 to 9.
func sharesAxes(s family.Shape) bool {
	return s == family.TiedVolumeAxes || s == family.TiedAxes
}

// ModelKey returns a word that is the same for two shapes if they are one model with k components on d columns. With one component it makes
// no difference what components share, and one column of numbers has a volume only.
func (p *Plan) ModelKey(shape family.Shape, k, d int) string {
	code := shape.Mclust()
	if shape.Factors() > 0 {
		if k == 1 && shape.SharesUniquenesses() {
			return family.OwnFactors.WithFactors(shape.Factors()).Mclust()
		}
		return code
	}
	if k == 1 {
		code = strings.ReplaceAll(code, "V", "E")
	}
	if p.numbers(d) == 1 {
		code = code[:1]
	}
	return code
}

// numbers returns how many of d columns covariances are of: of columns of several types those that hold numbers.
func (p *Plan) numbers(d int) (n int) {
	if !p.Kind.Parted {
		return d
	}
	for _, t := range p.Types {
		if t == data.Number {
			n++
		}
	}
	return n
}
