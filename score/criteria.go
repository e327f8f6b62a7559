package score

import "math"

// BIC is the Bayesian information criterion p ln n - 2 logL; lower is better. p is the number of free parameters, n
// the total row weight (above 0), logL the log-likelihood in nats, summed over rows. Schwarz 1978.
func BIC(p int, n, logL float64) float64 { return float64(p)*math.Log(n) - 2*logL }

// AIC is Akaike's information criterion 2p - 2 logL; lower is better. Arguments as for [BIC]. Akaike 1974.
func AIC(p int, logL float64) float64 { return 2*float64(p) - 2*logL }

// ICL is the integrated completed likelihood as a criterion, BIC + 2 entropy; lower is better. entropy is that of
// the posterior, Σ_i w_i Σ_c -q_ic ln q_ic in nats, and at least 0: overlapping components cost. Some tools use the
// probability of each row's likeliest component in its place. Biernacki, Celeux and Govaert 2000.
func ICL(p int, n, logL, entropy float64) float64 { return BIC(p, n, logL) + 2*entropy }
