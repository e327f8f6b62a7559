#!/usr/bin/env python3
"""What factor analysis takes beside scikit-learn's FactorAnalysis, both to the optimum: processor time of one fit of 100,000 rows of 64 columns with 5 factors.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/factors.py --latent /tmp/latent [--rounds 3] [--rows 100000] [--columns 64] [--factors 5]

latent's time is that of the whole command: reading an NPY file, the fit, certificate and standard errors. FactorAnalysis' is that of fit alone, at tol 1e-8, with its default singular
value decomposition (randomized) and the exact one (lapack). Rounds are interleaved; medians and log-likelihoods are printed. Quote ratios of one run with the machine named; never times."""
import argparse, json, os, resource, statistics, subprocess, sys, tempfile


def made(n, d, q):
    import numpy as np
    rng = np.random.default_rng(5)
    loadings, unique = rng.normal(size=(d, q)), .3 + 2 * rng.random(d)
    return rng.normal(size=(n, q)) @ loadings.T + rng.normal(size=(n, d)) * np.sqrt(unique)


def theirs(path, q, method):
    """Runs in a process of its own; prints seconds and log-likelihood."""
    import numpy as np
    from sklearn.decomposition import FactorAnalysis
    x = np.load(path)
    before = resource.getrusage(resource.RUSAGE_SELF)
    m = FactorAnalysis(q, tol=1e-8, max_iter=100_000, svd_method=method).fit(x)
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, m.score(x) * len(x))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--latent", required=False)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--rows", type=int, default=100_000)
    p.add_argument("--columns", type=int, default=64)
    p.add_argument("--factors", type=int, default=5)
    p.add_argument("--theirs", nargs=2)
    a = p.parse_args()
    if a.theirs:
        return theirs(a.theirs[0], a.factors, a.theirs[1])
    import numpy as np
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "rows.npy")
        np.save(path, made(a.rows, a.columns, a.factors))
        seconds, ends = {}, {}
        for _ in range(a.rounds):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            out = subprocess.run([a.latent, "fit", path, "-k", "1", "--covariance", f"factors:{a.factors}", "--json"], capture_output=True, text=True, check=True).stdout
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.setdefault("latent", []).append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
            ends["latent"] = json.loads(out)["log_likelihood"]
            for method in "randomized", "lapack":
                out = subprocess.run([sys.executable, __file__, "--theirs", path, method, "--factors", str(a.factors)], capture_output=True, text=True, check=True).stdout
                s, end = map(float, out.split())
                seconds.setdefault(method, []).append(s)
                ends[method] = end
    own = statistics.median(seconds["latent"])
    for name, list_ in seconds.items():
        print(f"{name}: {statistics.median(list_):.2f} s of processor, {statistics.median(list_) / own:.1f} times latent's; log-likelihood {ends[name]:.6f}")


main()
