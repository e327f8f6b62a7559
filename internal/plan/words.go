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
	VB            Algorithm = "vb"
	DPMeans       Algorithm = "dp-means" // of a Spec with a Penalty; no spec names it
)

// Climbers returns the drivers of mixtures that climb the log-likelihood.
func Climbers() []Algorithm {
	return []Algorithm{EM, EMLBFGS, SQUAREM, AntiAnnealing, BFGS, LBFGS, ECG}
}

// Start is a way to choose starts, by its word in a spec.
type Start string

// The ways to choose starts. A spec never names the last three, which only results do.
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

// Scaling is a way to scale columns, by its word in a spec.
type Scaling string

// The ways to scale columns.
const (
	Unscaled Scaling = "none"
	Standard Scaling = "standard"
	Robust   Scaling = "robust"
)

// Criterion is a criterion of a choice, by its word in a spec.
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

// Highest reports whether a higher value of the criterion is better.
func (c Criterion) Highest() bool { return c == Silhouette || c == Gap }

// inertias is why a kind of model lacks the criteria that compare inertias.
const inertias = "compares inertias, which kmeans has"

// needs returns the reason why a kind of model lacks the criterion.
func (c Criterion) needs() string {
	switch c {
	case Silhouette:
		return "is for numbers"
	case Gap, Elbow:
		return inertias
	}
	return "needs a log-likelihood"
}
