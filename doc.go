// Package latent finds the groups hidden in data: mixtures of Gaussians, of bits, categories and counts, and of columns of all
// these types in one table, also where cells are missing; hidden Markov models of sequences of such rows; k-means and K-medians. A fit
// says how far it still is from its end.
//
//	r, err := latent.Fit(ctx, table, latent.Spec{K: 3})
//
// # One theory
//
// Rows x_1..x_n carry hidden labels z_i in 1..k; parameters theta say what the groups look like and, as mixing weights
// pi, how common they are. Every method here climbs one function, the free energy
//
//	F(q, theta) = sum_i w_i sum_c q_ic [ log pi_c p_c(x_i) ] + (1/beta) H(q)      nats
//
// by turns. q_ic is the responsibility of component c for row i, w_i the row's weight and H the entropy. The E-step
// sets q with theta fixed: q is proportional to (pi_c p_c(x_i))^beta. The M-step sets theta with q fixed. Neither can
// lower F. At beta = 1
//
//	F(q, theta) = log-likelihood(theta) - KL(q || posterior),
//
// so the E-step closes the gap and the M-step lifts the bound: this is EM. As beta grows, responsibilities harden; at
// beta = infinity every row belongs to its best component: hard EM. K-means is hard EM of spherical Gaussians with one
// fixed variance and equal weights, and F is then minus the inertia; K-medians is the same of Laplace densities. The
// detour of beta from below 1 to above 1 and back is anti-annealing, a search for a better optimum.
//
// Three choices are independent: what a cluster looks like ([Spec].Model and Covariance), how q is set (beta), and how theta
// climbs ([Spec].Algorithm). A fourth, where the rows are (package data), changes no result. What a fit leaves is a model
// (package model), which labels, scores and draws rows, and is a file.
//
// # Missing cells and columns of several types
//
// A missing cell is NaN in the rows of a source. A mixture is fitted to the cells that are there ([Spec].Missing says otherwise):
// p_c(x_i) is then the density of these cells alone, and what is missing is hidden beside the labels. Nothing is filled in;
// package model does that with the finished mixture. It is right where cells are missing at random: by chance, or
// for a reason that the other cells of the row tell. K-means takes gaps only if it is asked to.
//
// With Model "mixed" a column holds numbers, categories or counts, as [Spec].Types says: Gaussian of any Covariance, levels
// with probabilities, and Poisson, independent of each other given the component. Options.Mixed of package data finds the
// types out, in Info.Types and Info.Levels, for Spec.Types and Spec.Levels.
//
// # Sequences
//
// With [Spec].Model "hmm" the labels of the rows of a sequence are a Markov chain, and what a state's rows are like is any mixture's component
// ([Spec].Emission). data.Block.Sequence tells which sequence a row is of; rows of one follow each other in time.
//
// # What is promised
//
// The same source, spec and seed give the same bits for any number of threads. A row of weight 2 is the row twice; a
// row of weight 0 is no row. Components come in order of weight, the heaviest first. A mixture stops when it is within
// 0.01 standard errors of its optimum, by Newton's decrement in the observed information; one that could not says so in
// Result.Converged, and Result.Certificate tells what was found. A smallest variance, 1e-9 times the
// columns' own, keeps the likelihood bounded; a component that sits on it is named in Result.Warnings.
//
// Sources: Dempster, Laird, Rubin (1977); Neal, Hinton (1998); Bishop (2006), chapter 9; Lloyd (1982); Arthur,
// Vassilvitskii (2007); Jamshidian, Jennrich (1997); Naim, Gildea (2012); of missing cells Ghahramani, Jordan (1994), Little,
// Rubin (2019); of columns of several types Everitt (1988), Hunt, Jorgensen (1999, 2003).
package latent
