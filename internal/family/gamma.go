package family

import "math"

// asymptotic is where the series of this file begin: from there on their terms reach the last digit of float64.
const asymptotic = 10

// psiLag returns log x - psi(x) for x > 0, psi the derivative of the logarithm of the gamma function: it falls from infinity to 0, and is
// told to the last digits where it is small. Abramowitz and Stegun 1964, 6.3.18 and 6.3.5.
func psiLag(x float64) float64 {
	up, y := 0.0, x
	for y < asymptotic {
		up += 1 / y
		y++
	}
	z := 1 / (y * y)
	lag := 1/(2*y) + z*(1./12-z*(1./120-z*(1./252-z*(1./240-z*(1./132-z*(691./32760-z/12))))))
	if y == x {
		return lag
	}
	return lag + (up - math.Log(y/x))
}

// Trigamma returns the second derivative of log Gamma(x) for x > 0. Abramowitz and Stegun 1964, 6.4.12 and 6.4.6.
func Trigamma(x float64) float64 {
	up := 0.0
	for x < asymptotic {
		up += 1 / (x * x)
		x++
	}
	z := 1 / (x * x)
	return up + 1/x + z/2 + z/x*(1./6-z*(1./30-z*(1./42-z*(1./30-z*(5./66-z*(691./2730-z*7/6))))))
}

// logGammaRatio returns lgamma(x+h) - lgamma(x) for x > 0 and h >= 0, without the difference of two large numbers.
func logGammaRatio(x, h float64) float64 {
	if x < asymptotic {
		return lgamma(x+h) - lgamma(x)
	}
	return (x-0.5)*math.Log1p(h/x) + h*(math.Log(x+h)-1) + (stirling(x+h) - stirling(x))
}

// stirling is what lgamma(x) is more than (x - 1/2) log x - x + (1/2) log 2 pi. Abramowitz and Stegun 1964, 6.1.41.
func stirling(x float64) float64 {
	z := 1 / (x * x)
	return (1./12 - z*(1./360-z*(1./1260-z*(1./1680-z*(1./1188-z*(691./360360-z/156)))))) / x
}

// logGammaRest returns lgamma(x) - x log x + x.
func logGammaRest(x float64) float64 {
	if x < asymptotic {
		return lgamma(x) - x*math.Log(x) + x
	}
	return (log2Pi-math.Log(x))/2 + stirling(x)
}

// lgamma is the logarithm of the gamma function of a positive number.
func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
