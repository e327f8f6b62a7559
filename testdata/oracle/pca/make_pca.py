"""Principal components by numpy's singular values, for pca/oracle_test.go: iris, digits, and rows far from the origin with
weights. Run in this folder beside a folder with the files of scikit-learn's data sets:

    python make_pca.py

Axes are signed so that their largest entry is positive. Variances have divisor W, the sum of the weights.
"""

import json
import platform

import numpy as np
import sklearn
from sklearn.datasets import load_digits, load_iris


def components(x, w, offset, n):
    """The first n components of the rows offset + x with weights w; x is near 0, so nothing cancels."""
    total = w.sum()
    mean = (w[:, None] * x).sum(0) / total
    _, s, axes = np.linalg.svd(np.sqrt(w / total)[:, None] * (x - mean), full_matrices=False)
    for a in axes:
        if a[np.argmax(abs(a))] < 0:
            a *= -1
    # The second way: the eigenvalues of the covariance.
    values = np.linalg.eigvalsh(np.cov(x.T, aweights=w, ddof=0))[::-1][:n]
    checked = abs(values - s[:n] ** 2).max() / values[0]
    assert checked < 1e-14
    return {
        "checked": checked,
        "n": n,
        "mean": (offset + mean).tolist(),
        "variance": (s[:n] ** 2).tolist(),
        "total": float((s**2).sum()),
        "axes": axes[:n].tolist(),
    }


cases = []
iris = load_iris().data
cases.append({"name": "iris", "set": "@iris", **components(iris, np.ones(len(iris)), 0, 4)})

digits = load_digits().data
digits = digits[:, digits.std(0) > 0]  # the reader leaves constant columns out
cases.append({"name": "digits", "set": "@digits", **components(digits, np.ones(len(digits)), 0, 12)})

rng = np.random.default_rng(7)
near = np.round(rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6)) * 8) / 8 * [1, 2, 4, 1, 0.5, 8]
weights = rng.integers(0, 9, size=60) / 4
far = 1e8 + near  # eighths and sixteenths are exact at 1e8
assert ((far - 1e8) == near).all() and (weights == 0).any()
cases.append({"name": "far", "rows": far.tolist(), "weights": weights.tolist(), **components(near, weights, 1e8, 6)})

made_by = f"make_pca.py, numpy {np.__version__}, scikit-learn {sklearn.__version__}, python {platform.python_version()}"
with open("pca.json", "w", encoding="utf-8") as f:
    json.dump({"made_by": made_by, "cases": cases}, f)
    f.write("\n")
