package model

// posteriorArrays returns the arrays of a posterior.
func (m *Model) posteriorArrays() ([]Array, error) {
	p := m.Posterior
	k, d := p.K(), m.dims()
	concentration := numbers("posterior_weight_concentration_", p.Concentration, k)
	if p.Sticks != nil {
		concentration.Shape, concentration.F64 = []int{2, k}, make([]float64, 2*k)
		for c, s := range p.Sticks {
			concentration.F64[c], concentration.F64[k+c] = s[0], s[1]
		}
	}
	var means []float64
	for _, row := range p.Means {
		means = append(means, row...)
	}
	dof := numbers("posterior_degrees_of_freedom_", p.Dof, len(p.Dof))
	if p.Shape.Shared() {
		dof.Shape = nil
	}
	whole := *m.Changed() // with all components
	whole.Weights, whole.Means, whole.Covariance = p.Shares(), p.Means, nil
	for c, s := range p.Scale {
		cov := make([]float64, len(s))
		for i, v := range s {
			cov[i] = v / p.dof(c)
		}
		whole.Covariance = append(whole.Covariance, cov)
	}
	covariances, err := whole.covarianceArrays()
	if err != nil {
		return nil, err
	}
	all := []Array{concentration, numbers("posterior_mean_precision_", p.MeanPrecision, k), numbers("posterior_means_", means, k, d), dof}
	for _, a := range covariances[1:] {
		a.Name = "posterior_" + a.Name
		all = append(all, a)
	}
	return all, nil
}
