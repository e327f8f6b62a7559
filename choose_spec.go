package latent

import (
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/text"
)

// What is tried where the spec says nothing at all.
const (
	affordedCells   = 1e6 // rows x columns up to which also shapes are tried that share a part of the covariances
	affordedColumns = 30  // columns up to which whole matrices are tried
	affordedAxes    = 8   // columns up to which shapes are tried that share axes alone
)

// criteria are what Spec.Criterion may be.
var criteria = []string{"bic", "aic", "icl", "silhouette", "gap", "elbow"}

const inertias = "compares inertias, which kmeans has"

// criterionNeeds says why a kind of model may lack a criterion.
var criterionNeeds = map[string]string{
	"bic": "needs a log-likelihood", "aic": "needs a log-likelihood", "icl": "needs a log-likelihood",
	"silhouette": "is for numbers", "gap": inertias, "elbow": inertias,
}

// mostTried is the largest number of components that is tried where the spec does not say.
const mostTried = 9

// Chooses reports whether the spec leaves a choice of K or of the covariance shape, so that several candidates are fitted.
func (s *Spec) Chooses() bool { return s.chooses() }

func (s *Spec) chooses() bool {
	return s.Penalty == nil && (s.KRange != [2]int{} || s.K == 0 && s.mixture() || s.severalShapes())
}

func (s *Spec) severalShapes() bool {
	return strings.EqualFold(s.Covariance, "all") || strings.Contains(s.Covariance, ",")
}

// ValidateOne is Validate for what fits one K and one covariance shape.
func (s *Spec) ValidateOne() error {
	if err := s.Validate(); err != nil {
		return err
	}
	switch {
	case s.Bootstrap > 0:
		return bad("bootstrap", "repeats a fit on resampled rows, but this is not one")
	case s.LRT > 0:
		return bad("lrt", "tests a fit against one more group, but this is not one")
	case !s.chooses():
		return nil
	case s.KRange != [2]int{}:
		return bad("k", "is a range, but this fits one number of groups, such as -k 3; fit chooses one")
	case s.K == 0:
		return bad("k", "is needed: the number of groups, such as -k 3")
	}
	return bad("covariance", "names several shapes, but this fits one; fit chooses one")
}

// validateChoice checks what is chosen from, and what makes no sense with a choice.
func (s *Spec) validateChoice() error {
	for _, name := range s.shapeNames() {
		if _, err := family.ParseShape(name); err != nil {
			return bad("covariance", "%s", strings.TrimPrefix(err.Error(), "covariance "))
		}
	}
	if err := oneOf("criterion", s.Criterion, criteria...); err != nil {
		return err
	}
	switch {
	case s.Criterion != "" && !s.chooses():
		return bad("criterion", "decides where -k or --covariance leave a choice; here they leave none")
	case s.Criterion != "" && !slices.Contains(s.kind().Criteria, s.Criterion):
		return bad("criterion", "%s %s; %s has %s", s.Criterion, criterionNeeds[s.Criterion], s.kind().Name, text.List(s.kind().Criteria, "and"))
	case s.Criterion == "elbow" && s.KRange[1]-s.KRange[0] < 2:
		return bad("criterion", "elbow looks for a bend, which takes at least three numbers of groups, such as -k 1:8")
	case s.chooses() && s.given():
		return bad("init", "%s gives one start for one number of groups; say which with -k N, and one shape", s.Init)
	}
	return nil
}

// shapeNames returns the words of Covariance; none for "all".
func (s *Spec) shapeNames() []string {
	if s.Covariance == "" || strings.EqualFold(s.Covariance, "all") {
		return nil
	}
	words := strings.Split(s.Covariance, ",")
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	return words
}

// criterion returns what a choice is made by.
func (s *Spec) criterion() string {
	switch {
	case s.Criterion != "":
		return s.Criterion
	}
	return s.kind().Criteria[0]
}

// sizes returns the lowest and the highest number of components to choose from.
func (s *Spec) sizes() (lo, hi int) {
	switch {
	case s.K > 0:
		return s.K, s.K
	case s.KRange != [2]int{}:
		return s.KRange[0], s.KRange[1]
	}
	return 1, mostTried
}

// one returns the spec of one candidate. shape is what Covariance becomes.
func (s Spec) one(k int, shape string) Spec {
	s.oneUnit = s.oneUnit || s.chooses() && s.severalUnits()
	s.K, s.KRange, s.Covariance, s.Criterion, s.Watch, s.Tried = k, [2]int{}, shape, "", nil, nil
	return s
}

// severalUnits reports whether a shape may be chosen that depends on the units of the columns.
func (s *Spec) severalUnits() bool {
	names := s.shapeNames()
	for _, name := range names {
		if shape, err := family.ParseShape(name); err == nil && !shape.Rescales() {
			return true
		}
	}
	return names == nil && (s.Covariance != "" || s.K == 0 && s.KRange == [2]int{})
}

// shapes returns the covariance shapes to choose from on n rows and d columns, as Covariance says them, and those left out
// because they were not asked for and take long.
func (s *Spec) shapes(n int64, d int) (names []string, left []family.Shape) {
	if names = s.shapeNames(); names != nil {
		for i, name := range names {
			shape, _ := family.ParseShape(name)
			names[i] = shape.String()
		}
		return distinct(names), nil
	}
	asked := s.Covariance != ""
	if !s.kind().Shaped || !asked && (s.K > 0 || s.KRange != [2]int{}) {
		return []string{""}, nil
	}
	var keys []string
	for _, shape := range family.Shapes() {
		key := likeness(shape, 2, d)
		switch {
		case slices.Contains(keys, key): // one column has fewer shapes
		case !asked && (shape.Matrix() && d > affordedColumns || sharesAxes(shape) && d > affordedAxes || shape.Parsimonious() && float64(n)*float64(d) > affordedCells):
			left = append(left, shape)
		default:
			names, keys = append(names, shape.String()), append(keys, key)
		}
	}
	return names, left
}

// sharesAxes reports whether components share the axes but not the ellipsoid. Their M-step iterates: on 178 rows of 13 columns
// VVE took twenty times as long as VVV for k = 1 to 9.
func sharesAxes(s family.Shape) bool {
	return s == family.TiedVolumeAxes || s == family.TiedAxes
}

// distinct returns the words without repeats, in order.
func distinct(words []string) (once []string) {
	for _, w := range words {
		if !slices.Contains(once, w) {
			once = append(once, w)
		}
	}
	return once
}

// likeness returns a word that two shapes have in common if they are one model with k components on d columns: what
// components share makes no difference to one of them, and one column has a volume only.
func likeness(shape family.Shape, k, d int) string {
	code := shape.Mclust()
	if k == 1 {
		code = strings.ReplaceAll(code, "V", "E")
	}
	if d == 1 {
		code = code[:1]
	}
	return code
}
