package selection

import (
	"fmt"
	"slices"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/text"
)

// keptVectors is how many parameter vectors of a candidate are kept until all are done.
const keptVectors = 3

// lookedAtAgain is how many times the time of its own starts a candidate takes, by the estimate, if it climbs from its neighbours too.
const lookedAtAgain = 2

// leaveLarge marks the candidates that would take more memory or time than is allowed, with the reason. It removes those of a shape that is
// too large with every number of groups, and returns the names of what it has removed or marked. Where nothing is left it returns why the
// smallest cannot be fitted.
func (c *choice) leaveLarge() (names []string, err error) {
	kept := 0.0
	var first error
	for _, x := range c.all {
		why := c.large(x, &kept)
		if x.large = why != nil; x.large {
			x.Why = "not tried: " + plan.FlagText(why)
			if first == nil {
				first = why
			}
		}
	}
	if !slices.ContainsFunc(c.all, func(x *contender) bool { return !x.large }) {
		return nil, first
	}
	if err := c.tooLong(); err != nil {
		return nil, err
	}
	for _, shape := range c.shapesOf() {
		if name := c.tooLargeOf(shape); name != "" {
			names = append(names, name)
		}
	}
	c.all = slices.DeleteFunc(c.all, func(x *contender) bool { return x.large && slices.Contains(names, x.Mclust) })
	for i, x := range c.all {
		x.order = i
	}
	return names, nil
}

// large returns why a candidate would take more memory or time than is allowed, nil where it would not. *kept is the memory, in bytes, that
// is kept of the candidates before it, to which it adds its own.
func (c *choice) large(x *contender, kept *float64) error {
	f := *c.base
	f.Plan = c.plan.Candidate(x.K, x.shape)
	if c.base.Survey.Used <= SideBySideRows {
		f.Concurrent = min(c.plan.Threads, len(c.all))
	}
	if err := f.Size(); err != nil {
		return err
	}
	own := 8 * keptVectors * float64(f.Mix.Params())
	if *kept+own > plan.AffordedBytes {
		return fmt.Errorf("what is kept of all candidates would take more than %s of memory; use a shorter range", text.Gigabytes(plan.AffordedBytes))
	}
	*kept += own
	if e := f.Estimate(); x.sameAs == nil && e.Cells < plan.PlentyOfCells*e.Parameters {
		if len(c.secondRound([]*contender{x})) > 0 {
			e.Seconds *= lookedAtAgain
		}
		c.seconds += e.Seconds
	}
	return nil
}

// tooLong returns why all candidates together would take longer than is allowed, nil where they would not or Spec.AllowLong is set.
func (c *choice) tooLong() error {
	if c.seconds <= plan.AffordedSeconds || c.plan.AllowLong {
		return nil
	}
	tried := 0
	for _, x := range c.all {
		if !x.large && x.sameAs == nil {
			tried++
		}
	}
	field, less := "K", plan.Flags("a shorter range, such as -k 1:3")
	columns := plan.Flags("--pca N")
	if !c.plan.Kind.Turns() {
		columns = "fewer columns (--columns)"
	}
	switch {
	case c.lo == c.hi:
		field, less = "Covariance", "fewer shapes or "+columns
	case c.plan.Shaped():
		less += ", one --covariance or " + columns
	default:
		less += ", or " + columns
	}
	return plan.Wrong(field, "leaves a choice of %d candidates on %s columns that would take about %s together on one core: use %s, or --allow-long to try them all the same",
		tried, text.Whole(float64(len(c.base.Survey.Mean))), text.Duration(c.seconds), less)
}

// shapesOf returns the codes of the shapes of all candidates, in order; "" for a model without.
func (c *choice) shapesOf() (codes []string) {
	for _, x := range c.all {
		if !slices.Contains(codes, x.Mclust) {
			codes = append(codes, x.Mclust)
		}
	}
	return codes
}

// tooLargeOf names the candidates of a shape that are too large: by its code where all are, else from which number of groups on; "" where
// none is.
func (c *choice) tooLargeOf(shape string) string {
	from, all := 0, true
	for _, x := range c.all {
		switch {
		case x.Mclust != shape:
		case !x.large:
			all = false
		case from == 0:
			from = x.K
		}
	}
	switch {
	case from == 0:
		return ""
	case all:
		return shape
	case shape == "":
		return fmt.Sprintf("k from %d on", from)
	}
	return fmt.Sprintf("%s from k = %d on", shape, from)
}
