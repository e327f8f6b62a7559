// Package kind says what kinds of model there are. Each is one value that holds all that the rest of the program asks about
// it: its words, what its columns hold, which options apply to it, how its components are parametrised, read, written, drawn
// from and told. Nothing outside asks for a kind by its name.
package kind

import (
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

// Kind is a kind of model. Its fields are not to be changed.
type Kind struct {
	Name   string // of --model, and of "model" in a model file
	Title  string // as a summary calls it: "Gaussian mixture"
	Phrase string // as a sentence calls it: "a Gaussian mixture"

	Cells   Cells
	Mixture bool   // components have densities and mixing weights; else centres that cost distances
	Shaped  bool   // components have covariances, of one of the shapes of package family
	Scales  string // of kinds with these: their key in the model file
	// Tails says that components have degrees of freedom: rows far out count for little, so that starts and the measures of columns must not
	// depend on them either.
	Tails   bool
	Parted  bool // columns are of several types, each modelled by a kind of its own: see Parts
	Factors bool // covariances may have few factors: see family.WideFactors
	Noise   bool // a mixture may have one more component, of rows that lie anywhere
	Squared bool // of centres: costs are squared distances, so that centres are means and the cost is the inertia
	// Soft says that climbs from starts drawn in a single way often miss the best maximum, so that starts are drawn in several ways and
	// with several label confidences, and each try climbs almost to its maximum.
	Soft bool

	Drivers  []string // what --algorithm may be; the first leaves it to the fit
	Criteria []string // what --criterion may be; the first is the default
	MaxIter  int      // steps allowed where nobody says
	Missing  []string // what --missing may be; the first is the default

	// Family returns what a cluster looks like.
	Family func(Variables) family.Family

	Location Location
	Cost     Cost // of centres
}

// Cells is what the cells of the columns hold.
type Cells struct {
	Is  string // what one is: "a bit (0 or 1)"
	Are string // what they are called: "bits"
	// Units says that they are numbers of which differences tell, as lengths and temperatures: a column may be shifted, scaled and mapped to
	// principal components, so that rows are read relative to an origin, every finite number is one, and --scale and --pca apply. It
	// is false where 0 is a place of its own, as among counts and waiting times.
	Units bool
	Bits  bool // they are 0 or 1, which --binarize makes of numbers
	// Levels says that they are indexes, from 0, into the names of the levels of their column.
	Levels bool
	// Wrong reports whether x can be no cell of a column of so many levels; nil where every finite number can.
	Wrong func(x float64, levels int) bool
	// Near returns where a cell stands on a scale on which distances between rows mean the same everywhere; nil where that is the
	// cell itself, or the kind has distances of its own.
	Near func(x float64) float64
	// Cure is what to do about a cell that is wrong, beside leaving the column out; may be empty.
	Cure string
}

// Location is the numbers that say where a component is: its mean, its centre, or its probabilities. They are one a column, or
// one a level of each column.
type Location struct {
	Key     string // of the model file: "means"
	Array   string // of an export, as scikit-learn calls it where it knows it: "means_"
	Plural  string // as a summary calls them: "means"
	Told    Told
	Lowest  float64 // each number is at least this
	Highest float64 // and at most this
	Range   string  // the same in words: "from 0 to 1"; empty where every finite number is allowed

	// Slope returns the derivative of such a number v in its parameter, where each has one of its own: what standard errors go
	// by. It is nil where that is not so.
	Slope func(v float64) float64
	// Events returns how often what tells such a number v happens among n rows: a number of which less than a tenth of an event
	// tells has no standard error. It is nil where all rows tell.
	Events func(v, n float64) float64
	// Variance returns the variance of a cell of a component with such a number v; nil where covariances tell it, or nothing does.
	Variance func(v float64) float64
	// What is said of numbers at an end of their range, which the family holds: "Edge 2: beak, weight" names them in the certificate,
	// and "3 EdgeNouns are Certain" counts them in a warning, where %s in Certain is what a component is called.
	Edge, EdgeNoun, Certain string

	// Draw sets x to a row of a component with such numbers; nil where rows are normal.
	Draw func(x, location []float64, levels []int, rng *rand.Rand)
}

// Told says which field of a result holds the location of a component.
type Told uint8

// The fields of a component of a result.
const (
	Mean Told = iota
	Median
	Probability
)

// Cost is what is said of the cost of centres.
type Cost struct {
	Name string // "inertia"
	Of   string // "the squared distances to the centres"
}

// Variables is what a family is made for.
type Variables struct {
	Shape    family.Shape // of covariances
	Types    []data.Type  // of each column, where the kind is parted
	Levels   []int        // number of levels of each column
	Weight   float64      // of all rows: what says how little they tell of a number
	Var      []float64    // variance of each column: what floors are measured by; nil where only the number of parameters is asked for
	RegCovar float64      // added to every variance by the M-step
	Dof      family.Dof   // of kinds with Tails
	GivenDof []float64    // where they are given: one for each component, or one for all
	Gaps     *family.Gaps // which cells are missing together; nil where rows are complete
}

// What --missing may be: a missing cell is an error, or one of which the model says nothing.
const (
	Refuse = "error"
	Model  = "model"
)

// Of returns the kind with a name, the default one for the empty name, and nil where there is none.
func Of(name string) *Kind {
	if name == "" {
		return all[0]
	}
	if i := slices.IndexFunc(all, func(k *Kind) bool { return k.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Names returns the names of all kinds, the default first.
func Names() []string {
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.Name
	}
	return names
}

// OfNumbers returns the names of the kinds whose columns are numbers with a unit.
func OfNumbers() (names []string) {
	for _, k := range all {
		if k.Cells.Units {
			names = append(names, k.Name)
		}
	}
	return names
}

// Width returns how many numbers the location of a component has on d variables with such levels.
func (k *Kind) Width(d int, levels [][]string) int {
	if !k.Cells.Levels {
		return d
	}
	width := 0
	for _, names := range levels {
		width += len(names)
	}
	return width
}

// Numbers reports whether cells are numbers whose mean and standard deviation tell what a column holds: not bits, nor levels.
func (c *Cells) Numbers() bool { return !c.Bits && !c.Levels }

// Turns reports whether a row is a point of a space whose axes can be turned, so that it can be mapped to principal components.
func (k *Kind) Turns() bool { return k.Cells.Units && !k.Parted }

// Centred reports whether locations are points of the space of the rows, which are then read relative to an origin near them.
func (k *Kind) Centred() bool { return k.Cells.Units }
