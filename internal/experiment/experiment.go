// Package experiment repeats the comparisons of the paper behind anti-annealing (I. Naim, D. Gildea, ICML 2012) on data
// that are made here or come with the program: EM, anti-annealing, BFGS and ECG from the same random starts, with the
// default driver and SQUAREM beside them. It says which of the paper's findings hold on these data and which do not.
//
// Everything but the seconds depends on the seed alone.
package experiment

import (
	"context"
	"fmt"
	"time"

	"github.com/latent-go/latent/picture"
)

// Experiment is one that can be repeated.
type Experiment struct {
	Name  string
	About string // one line
	run   func(context.Context, *Options) (*Section, error)
}

// List returns the experiments in order.
func List() []Experiment {
	return []Experiment{
		{"two-gaussians", "a small cluster of 205 rows on the shoulder of one of 7,995", gaussians("two-gaussians", twoGaussians)},
		{"four-gaussians", "three small clusters of 2 to 5 % around a large one", gaussians("four-gaussians", fourGaussians)},
		{"digits-48", "handwritten digits 4 and 8 after PCA; MNIST's with --data", digits},
		{"violet", "a generated picture of a flower with tiny yellow centres, 40 segments", violet},
		{"photo", "a photograph of a flower, 40 segments", photograph("photo", "A photograph of a flower", "@flower by the Flickr user vultilion", picture.Flower())},
		{"photo-china", "a photograph of a palace, 40 segments", photograph("photo-china", "A photograph of a palace", "@china by the Flickr user danielbuechele", picture.China())},
		{"complexity", "seconds a sweep against rows, components and columns; sweeps a step", complexitySection},
	}
}

// Named returns the experiments of a name: one, or with "all" every one.
func Named(name string) ([]Experiment, bool) {
	if name == "all" {
		return List(), true
	}
	for _, e := range List() {
		if e.Name == name {
			return []Experiment{e}, true
		}
	}
	return nil, false
}

// Section is what came of one experiment: what a page shows of it.
type Section struct {
	Name    string
	Title   string
	Data    string   // what the rows are
	Differs string   // how they differ from the paper's
	Finding string   // one sentence
	Claims  []Claim  // the paper's findings, one by one
	Remarks []string // what else there is to know
	Seconds float64

	study   *Study
	times   *times
	figures []drawing
}

// Report is what came of all experiments that were asked for.
type Report struct {
	Options
	Sections []*Section
}

// Run runs experiments one after another. If ctx ends, there is no report.
func Run(ctx context.Context, experiments []Experiment, o Options) (*Report, error) {
	r := &Report{Options: o}
	for _, e := range experiments {
		began := time.Now()
		s, err := e.run(ctx, &o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		s.Name, s.Seconds = e.Name, time.Since(began).Seconds()
		r.Sections = append(r.Sections, s)
	}
	return r, nil
}

// Finding returns one sentence: that of the experiment, or with several how many of the paper's findings held.
func (r *Report) Finding() string {
	if len(r.Sections) == 1 {
		return r.Sections[0].Finding
	}
	count, all := 0, 0
	for _, s := range r.Sections {
		for _, c := range s.Claims {
			all++
			if c.Verdict == held {
				count++
			}
		}
	}
	return fmt.Sprintf("%d of the %d findings of the paper that were looked at held on these data", count, all)
}

func (r *Report) studies() (all []*Study) {
	for _, s := range r.Sections {
		if s.study != nil {
			all = append(all, s.study)
		}
	}
	return all
}
