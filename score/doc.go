// Package score computes numbers that judge a clustering: criteria that weigh fit against size, the agreement of two
// labellings, and indices of how well the clusters of some data hang together.
//
// Row weights are counts everywhere: a row of weight 2 gives the same numbers as the row twice, a row of weight 0 the
// same as no row, and n is the total weight. Matrices are row-major. Logarithms are natural.
//
// # Criteria
//
// With p free parameters and H the entropy of the posterior, Σ_i w_i Σ_c -q_ic ln q_ic:
//
//	BIC = p ln n - 2 logL      Schwarz 1978
//	AIC = 2 p - 2 logL         Akaike 1974
//	ICL = BIC + 2 H            Biernacki, Celeux and Govaert 2000
//
// Lower is better in all three.
//
// # Agreement
//
// [Agreement] is a contingency table: n_ij is the weight of the rows that the first labelling calls i and the second
// j, a_i and b_j are its margins, C and K the two labellings, and I = Σ n_ij/n ln(n n_ij / (a_i b_j)).
//
//	ARI           (R - E) / ((A + B)/2 - E)   Hubert and Arabie 1985; R = Σ n_ij(n_ij-1)/2, A and B the same sums
//	                                          over a_i and b_j, E = A B / (n(n-1)/2)
//	NMI           I / ((H(C) + H(K))/2)
//	homogeneity   I / H(C) = 1 - H(C|K)/H(C)  Rosenberg and Hirschberg 2007
//	completeness  I / H(K) = 1 - H(K|C)/H(K)
//	V-measure     harmonic mean of the last two
//
// Where a formula reads 0/0 the value is the usual one, that of scikit-learn; each method says which.
//
// # Validity
//
// [Partition] is data with a label for every row. With c_j the mean of cluster j, n_j its weight, and c the mean of
// all rows:
//
//	silhouette         s_i = (b_i - a_i) / max(a_i, b_i); a_i is the mean distance to the others of row i's cluster,
//	                   b_i the mean distance to the nearest other cluster         Rousseeuw 1987
//	Calinski-Harabasz  (Σ n_j |c_j - c|² / (k-1)) / (Σ_i w_i |x_i - c_label|² / (n-k))   Calinski and Harabasz 1974
//	Davies-Bouldin     mean over j of max_l (S_j + S_l) / |c_j - c_l|, S_j the mean distance to c_j
//	                                                                              Davies and Bouldin 1979
//
// Distances are Euclidean. Higher is better for the first two, lower for the last. With one cluster, or with as many
// clusters as rows, none of them says anything: they then return an [UndefinedError], never a number. [Stream] computes
// the last two of rows that are read twice and never held.
//
// # Merging
//
// [Overlaps] and [Entropies] say which components of a mixture make one cluster, by the responsibilities of the rows; [Bend] says how
// many clusters the entropies speak for.
//
// # Sources
//
//   - H. Akaike, A new look at the statistical model identification, IEEE Transactions on Automatic Control 19, 1974.
//   - J.-P. Baudry, A. Raftery, G. Celeux, K. Lo, R. Gottardo, Combining mixture components for clustering, Journal of
//     Computational and Graphical Statistics 19, 2010.
//   - C. Biernacki, G. Celeux, G. Govaert, Assessing a mixture model for clustering with the integrated completed
//     likelihood, IEEE Transactions on Pattern Analysis and Machine Intelligence 22, 2000.
//   - T. Calinski, J. Harabasz, A dendrite method for cluster analysis, Communications in Statistics 3, 1974.
//   - D. Davies, D. Bouldin, A cluster separation measure, IEEE Transactions on Pattern Analysis and Machine
//     Intelligence 1, 1979.
//   - C. Hennig, Methods for merging Gaussian mixture components, Advances in Data Analysis and Classification 4, 2010.
//   - L. Hubert, P. Arabie, Comparing partitions, Journal of Classification 2, 1985.
//   - A. Rosenberg, J. Hirschberg, V-measure: a conditional entropy-based external cluster evaluation measure,
//     EMNLP-CoNLL 2007.
//   - P. Rousseeuw, Silhouettes: a graphical aid to the interpretation and validation of cluster analysis, Journal of
//     Computational and Applied Mathematics 20, 1987.
//   - G. Schwarz, Estimating the dimension of a model, Annals of Statistics 6, 1978.
package score
