package plan

// Algorithm is a driver, by its word in a spec.
type Algorithm string

// The drivers of mixtures, of centres and of DP-means.
const (
	Auto          Algorithm = "auto"
	EM            Algorithm = "em"
	EMLBFGS       Algorithm = "em-lbfgs"
	HardEM        Algorithm = "hard-em"
	AntiAnnealing Algorithm = "anti-annealing"
	SQUAREM       Algorithm = "squarem"
	BFGS          Algorithm = "bfgs"
	LBFGS         Algorithm = "lbfgs"
	ECG           Algorithm = "ecg"
	Lloyd         Algorithm = "lloyd"
	Exact         Algorithm = "exact"
	Breathing     Algorithm = "breathing"
	MiniBatch     Algorithm = "minibatch"
	DPMeans       Algorithm = "dp-means" // which a price of a cluster asks for
)

// Climbers returns the drivers of mixtures that climb the log-likelihood.
func Climbers() []Algorithm {
	return []Algorithm{EM, EMLBFGS, SQUAREM, AntiAnnealing, BFGS, LBFGS, ECG}
}

// Start is a way to choose starts, by its word in a spec.
type Start string

// The ways to choose starts. A spec does not name the last three: they are what a fit tells.
const (
	AutoStart   Start = "auto"
	PlusPlus    Start = "k-means++"
	Random      Start = "random"
	KMeans      Start = "kmeans"
	Whitened    Start = "whitened"
	SmallEM     Start = "small-em"
	Mixed       Start = "mixed"
	FromLabels  Start = "labels"
	FromModel   Start = "model"
	FromCenters Start = "centers"

	GreedyPlusPlus Start = "greedy k-means++"
	OverallMean    Start = "overall mean"
	NoStart        Start = "none"
)

// starts are the words of Spec.Init, the default first.
var starts = []Start{AutoStart, PlusPlus, Random, KMeans, Whitened, SmallEM, Mixed, FromLabels, FromModel, FromCenters}

// Scaling is what is done to the scales of the columns, by its word in a spec.
type Scaling string

// The ways to scale columns.
const (
	Unscaled Scaling = "none"
	Standard Scaling = "standard"
	Robust   Scaling = "robust"
)

// Criterion is what a choice is made by, by its word in a spec.
type Criterion string

// The criteria.
const (
	BIC        Criterion = "bic"
	AIC        Criterion = "aic"
	ICL        Criterion = "icl"
	Silhouette Criterion = "silhouette"
	Gap        Criterion = "gap"
	Elbow      Criterion = "elbow"
)

// Criteria returns the words of Spec.Criterion.
func Criteria() []Criterion { return []Criterion{BIC, AIC, ICL, Silhouette, Gap, Elbow} }

// Highest reports whether more of the criterion is better.
func (c Criterion) Highest() bool { return c == Silhouette || c == Gap }

const inertias = "compares inertias, which kmeans has"

// needs says why a kind of model may lack the criterion.
func (c Criterion) needs() string {
	switch c {
	case Silhouette:
		return "is for numbers"
	case Gap, Elbow:
		return inertias
	}
	return "needs a log-likelihood"
}
