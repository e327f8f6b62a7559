package model

// Certificate says how far from the optimum the parameters are estimated to be.
type Certificate struct {
	DistanceSE *float64 `json:"distance_se"`              // standard errors, a bound where Whole is true and else an estimate; nil where it is not known
	Remaining  *float64 `json:"remaining_log_likelihood"` // nats
	Method     *string  `json:"method"`                   // "information": from the observed information; "lower bound": from it, but cut short; "estimate": the driver's own
	Curvature  *float64 `json:"smallest_curvature"`
	Whole      bool     `json:"all_directions,omitempty"` // every direction was looked at: Curvature is the smallest, to 0.0001; else the smallest that was met
	Saddles    int      `json:"saddles_escaped"`          // saddles that the winning climb met and left
	Why        string   `json:"why,omitempty"`            // why the distance is not known
	OnEdge     []string `json:"on_edge"`                  // parameters that sit on a floor
}

// Starts says how the starts compare.
type Starts struct {
	N              int       `json:"n"`
	DistinctOptima int       `json:"distinct_optima"`
	Pruned         int       `json:"outraced"` // starts that were stopped when they could no longer win
	AgreeWithBest  int       `json:"agree_with_best"`
	DrawnFrom      int64     `json:"drawn_from,omitempty"` // rows that starts were drawn from: all, or a sample where there are many
	Moves          *Moves    `json:"moves,omitempty"`      // splitting and merging; nil where that was not tried
	Objectives     []float64 `json:"objectives"`           // free energy each start reached, in the user's units; minus the cost for kmeans and kmedians
}

// Truth is the agreement of the labels with a column that was not fitted.
type Truth struct {
	ARI float64 `json:"ari"`
	NMI float64 `json:"nmi"`
}

// Moves says what splitting and merging components came to: after the starts had climbed or, of a single start, on samples of the rows before it
// climbs on all.
type Moves struct {
	Tried int     `json:"tried"`
	Kept  int     `json:"kept"`
	Gain  float64 `json:"gain"` // nats over the best start; 0 for a single start, of which only what was kept climbs on all rows
}
