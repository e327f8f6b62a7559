package main

import (
	"math"
	"testing"
)

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*max(1, math.Abs(b)) }

func normal(x, mean, sd float64) float64 {
	return math.Exp(-(x-mean)*(x-mean)/(2*sd*sd)) / (sd * math.Sqrt(2*math.Pi))
}

// The thirteen numbers of the figure.
var thirteen = []float64{-1.9, -1.2, -0.7, -0.3, 0.1, 0.5, 0.9, 1.6, 3.9, 4.6, 5.1, 5.4, 6.2}

// naive returns the log-likelihood at mu, F with the responsibilities of another mean, and the M-step of those.
func naive(from, mu float64) (logLik, f, next float64) {
	var sum, share float64
	for _, x := range thirteen {
		a, b := normal(x, 0, 1.3)/2, normal(x, from, 1)/2
		q := b / (a + b)
		a, b = normal(x, 0, 1.3)/2, normal(x, mu, 1)/2
		logLik += math.Log(a + b)
		f += (1-q)*math.Log(a/(1-q)) + q*math.Log(b/q)
		sum, share = sum+q*x, share+q
	}
	return logLik, f, sum / share
}

func TestBoundLiesBelowTheLogLikelihoodAndTouchesIt(t *testing.T) {
	b := newBound()
	for i, mu := range b.mu {
		logLik, _, _ := naive(0, mu)
		if !near(b.logLik[i], logLik, 1e-12) {
			t.Fatalf("log-likelihood %v at %v, want %v", b.logLik[i], mu, logLik)
		}
		for _, s := range b.steps {
			_, f, _ := naive(s.from, mu)
			if !near(s.f[i], f, 1e-12) {
				t.Fatalf("F is %v at %v, want %v", s.f[i], mu, f)
			}
			if s.f[i] > b.logLik[i]+1e-12 {
				t.Fatalf("the bound from %v is above the log-likelihood at %v", s.from, mu)
			}
			if s.f[i] > s.lifted+1e-12 {
				t.Fatalf("the M-step from %v is not at the top: %v is higher", s.from, mu)
			}
		}
	}
}

func TestEveryDotIsOnItsCurveAndHigherThanTheLast(t *testing.T) {
	b := newBound()
	above, mu := math.Inf(-1), b.steps[0].from
	for _, s := range b.steps {
		logLik, touching, next := naive(s.from, s.from)
		_, lifted, _ := naive(s.from, s.to)
		if s.from != mu || !near(touching, logLik, 1e-12) || !near(s.logLik, logLik, 1e-12) || !near(s.to, next, 1e-12) || !near(s.lifted, lifted, 1e-12) {
			t.Errorf("step %v to %v: values %v and %v, want %v to %v and %v", s.from, s.to, s.logLik, s.lifted, logLik, next, lifted)
		}
		if !(s.logLik > above+1 && s.lifted > s.logLik+1) { // by more than a nat, or the arrows could not be seen
			t.Errorf("values %v, %v after %v do not rise", s.logLik, s.lifted, above)
		}
		above, mu = s.lifted, s.to
	}
}

func TestDivergencesOfCoinsHaveTheClosedForm(t *testing.T) {
	kl := func(p, q float64) float64 { return p*math.Log(p/q) + (1-p)*math.Log((1-p)/(1-q)) }
	c := newCoins()
	zero := 0
	for i, rho := range c.rho {
		if !near(c.forward[i], kl(0.8, rho), 1e-12) || !near(c.backward[i], kl(rho, 0.8), 1e-12) {
			t.Fatalf("at %v: %v and %v, want %v and %v", rho, c.forward[i], c.backward[i], kl(0.8, rho), kl(rho, 0.8))
		}
		if math.Abs(rho-0.8) < 1e-9 {
			zero++
		} else if c.forward[i] < 1e-6 || c.backward[i] < 1e-6 {
			t.Errorf("0 at %v", rho)
		}
	}
	if zero != 1 || math.Abs(c.rho[marked]-0.05) > 1e-12 || c.forward[marked] < c.backward[marked]+0.5 {
		t.Errorf("%d points at equal coins; at %v the two are %v and %v", zero, c.rho[marked], c.forward[marked], c.backward[marked])
	}
}

func TestResponsibilitiesAreSharpenedAboutTheSameBorders(t *testing.T) {
	s := newSharpness()
	for i, x := range s.x {
		wide, slim := 0.65*normal(x, 0, 1.5), 0.35*normal(x, 1.6, 0.6)
		if !near(s.wide[i], wide, 1e-12) || !near(s.slim[i], slim, 1e-12) {
			t.Fatalf("densities at %v: %v, %v, want %v, %v", x, s.wide[i], s.slim[i], wide, slim)
		}
		for b, beta := range s.betas {
			want := 1 / (1 + math.Pow(wide/slim, beta)) // at infinity 1 or 0
			if !near(s.q[b][i], want, 1e-12) {
				t.Fatalf("at %v, beta %v: %v, want %v", x, beta, s.q[b][i], want)
			}
		}
	}
	from, to := s.borders(0)
	for b := range s.betas {
		if f, l := s.borders(b); f != from || l != to {
			t.Errorf("beta %v has its borders at %v and %v, beta %v at %v and %v", s.betas[b], s.x[f], s.x[l], s.betas[0], s.x[from], s.x[to])
		}
	}
}
