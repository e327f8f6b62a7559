package family

// Trigamma returns the second derivative of log Gamma(x) for x above 0. It goes up to 12 by the recurrence, and there takes the asymptotic series
// (Abramowitz and Stegun 1964, 6.4.6 and 6.4.12), whose next term is below 1e-16 of the sum.
func Trigamma(x float64) float64 {
	sum := 0.0
	for ; x < 12; x++ {
		sum += 1 / (x * x)
	}
	y := 1 / (x * x)
	series := 1./6 + y*(-1./30+y*(1./42+y*(-1./30+y*(5./66+y*(-691./2730+y*(7./6))))))
	return sum + (1+0.5/x+y*series)/x
}
