package kind

// all are the kinds of model, the default first.
var all = []*Kind{Gaussian, Student, Bernoulli, Categorical, Poisson, Mixed, KMeans, KMedians}
