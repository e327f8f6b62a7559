package experiment

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/model"
)

// plan is a schedule of anti-annealing.
type plan struct {
	beta  []float64
	steps int // sweeps of EM at each but the last; 0 until settled
}

// name writes the plan as words.
func (p plan) name() string {
	var words []string
	for _, b := range p.beta {
		words = append(words, fmt.Sprint(b))
	}
	if p.steps == 0 {
		return strings.Join(words, " ") + ", until settled"
	}
	return fmt.Sprintf("%s, %d sweeps at each", strings.Join(words, " "), p.steps)
}

// appendix is the appendix's schedule of inverse temperatures.
var appendix = []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1}

// The schedules that anti-annealing is compared under. The appendix runs EM to its end at each temperature, within 500
// iterations in all. On pictures it never settles within them, so each temperature gets a few sweeps there: the longer it
// stays above 1, the more components lose all their rows, and the coarser the picture (50 starts of the violet: error
// 3,340 without 1.2, 3,359 with 5 sweeps at it, 3,487 with 10; EM's is 3,489).
var (
	tablePlan   = plan{appendix, 0}
	picturePlan = plan{appendix, 5}
)

// alternatives are other schedules, from the same starts: shorter or longer, without the part above 1, without the part
// below.
var alternatives = []plan{{appendix, 5}, {appendix, 10}, {[]float64{0.2, 0.4, 0.6, 0.8, 1}, 10}, {[]float64{0.8, 1, 1.2, 1}, 10}, {[]float64{1.2, 1}, 10}}

// scheduled is what anti-annealing came to by another schedule.
type scheduled struct {
	plan
	*summary
}

// alternatives runs anti-annealing by the other schedules and returns the summary of each, the study's own first.
func (p *problem) alternatives(ctx context.Context, s *Study, o *Options) (list []scheduled, err error) {
	list = append(list, scheduled{s.plan, s.summary("anti-annealing")})
	for i, other := range alternatives {
		if other.name() == s.plan.name() {
			continue
		}
		o.tell("%s: schedule %d of %d", s.Name, i+1, len(alternatives))
		spec := p.spec(o)
		spec.Beta, spec.BetaSteps = other.beta, other.steps
		trials, err := latent.Trials(ctx, p.rows, spec, []string{"anti-annealing"}, MaxSweeps, nil)
		if err != nil {
			return nil, err
		}
		sub := &Study{Name: s.Name}
		for i := range trials {
			r, err := p.judge(ctx, &trials[i], o)
			if err != nil {
				return nil, err
			}
			r.segments = nil // not to keep every picture
			sub.Runs = append(sub.Runs, *r)
		}
		list = append(list, scheduled{other, sub.summary("anti-annealing")})
	}
	return list, nil
}

// apart returns the largest distance between two means of a model, in standard deviations: the root of the mean variance
// of its components.
func apart(m *model.Model) float64 {
	d, variance, far := m.D(), 0.0, 0.0
	for c, w := range m.Weights {
		for j := range d {
			variance += w * covariance(m, c)[j*d+j] / float64(d)
		}
	}
	for a := range m.Means {
		for b := range a {
			square := 0.0
			for j := range d {
				square += (m.Means[a][j] - m.Means[b][j]) * (m.Means[a][j] - m.Means[b][j])
			}
			far = math.Max(far, square)
		}
	}
	return math.Sqrt(far / variance)
}

// schedulesTable is shown under the pictures.
func (s *Study) schedulesTable() *table {
	t := &table{Name: "Anti-annealing by other schedules, from the same starts", Header: append([]string{"β", "log-likelihood", "sweeps"}, s.measured()...)}
	for _, x := range s.schedules {
		t.Rows = append(t.Rows, append([]string{x.name(), plusMinus(x.logLik, 2), plusMinus(x.sweeps, 0)}, s.measures(x.summary)...))
	}
	return t
}

// ofSchedules says what the schedules show.
func (s *Study) ofSchedules() (list []string) {
	own, best, sharp := s.schedules[0], s.schedules[0], s.schedules[0]
	for _, x := range s.schedules {
		if x.logLik.mean > best.logLik.mean {
			best = x
		}
		if x.mse.mean < sharp.mse.mean {
			sharp = x
		}
	}
	text := "None of the other schedules tried ends clearly higher on average than the one used above"
	if compared(best.logLik, own.logLik, own.runs, near) == held {
		text = fmt.Sprintf("The schedule used above is not the best of those tried: β = %s ends at %s nats on average, the one above at %s", best.name(), plusMinus(best.logLik, 2), plusMinus(own.logLik, 2))
		if own.found >= 0 {
			text += fmt.Sprintf("; it finds what is small in %d of %d runs, the one above in %d", best.found, best.runs, own.found)
		}
	}
	list = append(list, text+".")
	if s.pixels != nil {
		list = append(list, fmt.Sprintf("The least mean error of the picture is that of β = %s: %s.", sharp.name(), plusMinus(sharp.mse, 1)))
	}
	if s.merged < 0.5 {
		list = append(list, fmt.Sprintf("At the end of β = %g the means of all components lie within %s standard deviations of one another (median over the runs of anti-annealing): the start is forgotten, and small random nudges decide how components part again.", s.plan.beta[0], short(s.merged)))
	}
	return list
}
