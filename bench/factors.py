#!/usr/bin/env python3
"""What factor analysis takes beside scikit-learn's FactorAnalysis, both to the optimum: processor time of one fit of 100,000 rows of 64 columns with 5 factors.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/factors.py --latent /tmp/latent [--rounds 3] [--rows 100000] [--columns 64] [--factors 5]

Of latent the way to the optimum, by the clock that --json has under timing (first pass, start, climb with its certificate: "start" and "fit"), and the whole command, which also reads
an NPY file and judges the result, with standard errors; of FactorAnalysis its fit alone, at tol 1e-8, with its default singular value decomposition (randomized) and the exact one (lapack). Seconds on the wall and of the
processor: libraries that spin while they wait take more of the latter. Rounds are interleaved; medians and log-likelihoods are printed. Quote ratios of one run on an idle machine with
the machine named; never times."""
import argparse, json, os, resource, statistics, subprocess, sys, tempfile, time


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
    began, before = time.time(), resource.getrusage(resource.RUSAGE_SELF)
    m = FactorAnalysis(q, tol=1e-8, max_iter=100_000, svd_method=method).fit(x)
    wall, after = time.time() - began, resource.getrusage(resource.RUSAGE_SELF)
    print(wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, m.score(x) * len(x))


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
            began, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
            out = subprocess.run([a.latent, "fit", path, "-k", "1", "--covariance", f"factors:{a.factors}", "--json"], capture_output=True, text=True, check=True).stdout
            wall, after = time.time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            r = json.loads(out)
            clock = sum(r["timing"][part] for part in ("start", "fit"))
            seconds.setdefault("latent, to the optimum", []).append((clock, None))
            seconds.setdefault("latent, the whole command", []).append((wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))
            ends["latent, to the optimum"] = ends["latent, the whole command"] = r["log_likelihood"]
            for method in "randomized", "lapack":
                out = subprocess.run([sys.executable, __file__, "--theirs", path, method, "--factors", str(a.factors)], capture_output=True, text=True, check=True).stdout
                wall, cpu, end = map(float, out.split())
                seconds.setdefault(method, []).append((wall, cpu))
                ends[method] = end
    fit = statistics.median(w for w, _ in seconds["latent, to the optimum"])
    own = statistics.median(c for _, c in seconds["latent, the whole command"])
    for name, list_ in seconds.items():
        wall = statistics.median(w for w, _ in list_)
        cpu = "" if list_[0][1] is None else f"; of the processor {statistics.median(c for _, c in list_) / own:.1f} times that of latent's whole command"
        print(f"{name}: {wall:.3f} s, {wall / fit:.1f} times latent's to the optimum{cpu}; log-likelihood {ends[name]:.6f}")


main()
