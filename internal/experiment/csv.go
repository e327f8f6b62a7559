package experiment

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// number is the shortest text that gives back the same float64, and nothing for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// WriteResults writes a line for every run: experiment, algorithm, run, seed, sweeps, seconds, log_likelihood,
// parameter_error, small_cluster_found, mse. What is not known of an experiment is empty.
func (r *Report) WriteResults(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "experiment,algorithm,run,seed,sweeps,seconds,log_likelihood,parameter_error,small_cluster_found,mse")
	for _, s := range r.studies() {
		for _, run := range s.Runs {
			found := ""
			if run.Found != nil {
				found = strconv.FormatBool(*run.Found)
			}
			fmt.Fprintf(b, "%s,%s,%d,%d,%d,%s,%s,%s,%s,%s\n", s.Name, run.Algorithm, run.Number, s.Seed, run.Sweeps, number(run.Seconds), number(run.LogLik),
				number(run.Error), found, number(run.MSE))
		}
	}
	return b.Flush()
}

// WriteTrace writes a line for every accepted step of every run: experiment, algorithm, run, sweep, beta,
// log_likelihood, free_energy, parameter_error.
func (r *Report) WriteTrace(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "experiment,algorithm,run,sweep,beta,log_likelihood,free_energy,parameter_error")
	for _, s := range r.studies() {
		for _, run := range s.Runs {
			for _, p := range run.Path {
				fmt.Fprintf(b, "%s,%s,%d,%d,%s,%s,%s,%s\n", s.Name, run.Algorithm, run.Number, p.Sweep, number(p.Beta), number(p.LogLik), number(p.FreeEnergy), number(p.Error))
			}
		}
	}
	return b.Flush()
}

// WriteTimes writes a line for every timing of the complexity experiment.
func (r *Report) WriteTimes(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "algorithm,varied,n,k,d,sweeps,steps,seconds,seconds_per_sweep")
	for _, s := range r.Sections {
		if s.times == nil {
			continue
		}
		for _, t := range s.times.all {
			fmt.Fprintf(b, "%s,%s,%d,%d,%d,%d,%d,%s,%s\n", t.algorithm, t.varied, t.n, t.k, t.d, t.sweeps, t.steps, number(t.seconds), number(t.perSweep()))
		}
	}
	return b.Flush()
}

// Timed reports whether there are timings to write.
func (r *Report) Timed() bool {
	return slices.ContainsFunc(r.Sections, func(s *Section) bool { return s.times != nil })
}
