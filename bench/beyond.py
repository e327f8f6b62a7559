#!/usr/bin/env python3
"""What priors, noise, Student-t and variational Bayes cost: a sweep of each beside a plain one, and beside mclust and scikit-learn, from the same start.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/beyond.py --latent /tmp/latent [--rounds 5] [--threads 2] [--json FILE]

Seconds a sweep = (fit of HI iterations - fit of LO iterations) / (sweeps of one - sweeps of the other), by `timing.fit` of --json, so that start, reading and what is told of the end
cancel; EM's own steps (--algorithm em --tol 0). Variational Bayes makes such steps in its first ten iterations only, and then arrives: its sweeps, and the plain ones beside them, are
those of iterations 3 to 10, in as many more fits. Rounds are interleaved; medians are printed. Needs numpy; mclust's part needs Rscript with the package mclust, and
scikit-learn's part scikit-learn: what is not there is said. Quote ratios of one run with the machine named; never times."""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

KINDS = {"plain": ["--algorithm", "em"], "prior": ["--algorithm", "em", "--prior", "auto"], "noise": ["--algorithm", "em", "--noise", "auto"], "t": ["--algorithm", "em", "--model", "t"], "vb": ["--algorithm", "vb"]}
# name: rows, columns, groups, iterations of the shorter and of the longer fit
SHAPES = {"full 100000 x 16, k 16": (100_000, 16, 16, 3, 13), "full 200000 x 4, k 5": (200_000, 4, 5, 5, 45), "full 20000 x 4, k 5": (20_000, 4, 5, 20, 220)}
R = """
suppressMessages(library(mclust))
a <- commandArgs(TRUE); x <- as.matrix(read.csv(a[1])); k <- as.integer(a[2]); kind <- a[3]; its <- as.integer(a[4:5])
near <- sapply(1:k, function(c) rowSums((x - matrix(x[c, ], nrow(x), ncol(x), byrow = TRUE))^2))
z <- unmap(max.col(-near, "first"))
prior <- if (kind == "prior") priorControl() else NULL
vinv <- NULL
if (kind == "noise") { vinv <- hypvol(x, reciprocal = TRUE); z <- cbind(z * 0.95, 0.05) }
seconds <- sapply(its, function(it) system.time(r <<- me(x, "VVV", z, prior = prior, control = emControl(itmax = it, tol = c(0, 0)), Vinv = vinv))[["elapsed"]])
cat((seconds[2] - seconds[1]) / (its[2] - its[1]), r$loglik, "\\n")
"""


FIRST = (2, 10)  # iterations of variational Bayes


def rows(n, d, k):
    """Overlapping blobs, typical distance of two centres 4 standard deviations; one row of fifty anywhere."""
    import numpy as np
    rng = np.random.default_rng(n + d)
    x = (rng.normal(size=(k, d)) * 4 / (2 * d) ** 0.5)[rng.integers(0, k, n)] + rng.normal(size=(n, d))
    x[k::50] = rng.uniform(-12, 12, size=x[k::50].shape)
    return x


def sweep(a, path, k, flags, its):
    """Seconds a sweep, and the log-likelihood at the end."""
    fits = []
    for it in its:
        r = subprocess.run([a.latent, "fit", path, "-k", str(k), "--covariance", "full", "--init", "kmeans", "--n-init", "1", "--max-iter", str(it), "--tol", "0", "--threads", str(a.threads), "--json", *flags], capture_output=True, text=True)
        if r.returncode not in (0, 3):
            sys.exit(f"{' '.join(flags)}: {r.stderr}")
        fits.append(json.loads(r.stdout))
    return (fits[1]["timing"]["fit"] - fits[0]["timing"]["fit"]) / (fits[1]["sweeps"] - fits[0]["sweeps"]), fits[1]["log_likelihood"]


def mclust(path, k, kind, its, folder):
    script = os.path.join(folder, "mclust.R")
    open(script, "w").write(R)
    out = subprocess.run(["Rscript", script, path, str(k), kind, *map(str, its)], capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return float(out.stdout.split()[0])


def bayesian(x, k, its):
    """Milliseconds a step of BayesianGaussianMixture and GaussianMixture."""
    import warnings
    from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
    warnings.simplefilter("ignore")
    got = []
    for kind in (BayesianGaussianMixture, GaussianMixture):
        seconds = []
        for it in its:
            m = kind(n_components=k, tol=0, max_iter=it, init_params="random_from_data", random_state=1)
            began = time.time()
            m.fit(x)
            seconds.append(time.time() - began)
            if m.n_iter_ != it:
                sys.exit(f"{kind.__name__} made {m.n_iter_} steps where {it} were asked for")
        got.append((seconds[1] - seconds[0]) / (its[1] - its[0]))
    return got


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--latent", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--json")
    a = p.parse_args()
    import numpy as np
    folder, out = tempfile.mkdtemp(prefix="latent-bench-"), {}
    for name, (n, d, k, lo, hi) in SHAPES.items():
        x = rows(n, d, k)
        np.save(os.path.join(folder, "x.npy"), x)
        path = os.path.join(folder, "x.npy")
        took = {kind: [] for kind in [*KINDS, "plain beside vb"]}
        for _ in range(a.rounds):
            for kind, flags in KINDS.items():
                if kind != "vb":
                    took[kind].append(sweep(a, path, k, flags, (lo, hi))[0])
            for _ in range(max((hi - lo) // (FIRST[1] - FIRST[0]), 3)):
                took["vb"].append(sweep(a, path, k, KINDS["vb"], FIRST)[0])
                took["plain beside vb"].append(sweep(a, path, k, KINDS["plain"], FIRST)[0])
        own = {kind: statistics.median(v) for kind, v in took.items()}
        beside = own.pop("plain beside vb")
        out[name] = {kind: v / own["plain"] for kind, v in own.items()}
        out[name]["vb"] = own["vb"] / beside
        print(f"{name}: a plain sweep {1000 * own['plain']:.2f} ms; " + ", ".join(f"{kind} {v:.2f} of it" for kind, v in out[name].items() if kind != "plain"), flush=True)
        if n == 20_000:
            if shutil.which("Rscript"):
                np.savetxt(os.path.join(folder, "x.csv"), x, delimiter=",", header=",".join(f"c{i}" for i in range(d)), comments="", fmt="%.17g")
                for kind in ("plain", "prior", "noise"):
                    theirs = statistics.median(mclust(os.path.join(folder, "x.csv"), k, kind, (20, 60), folder) for _ in range(a.rounds))
                    out[name]["mclust " + kind] = theirs / own[kind]
                    print(f"  mclust, {kind}: {theirs / own[kind]:.1f} times as long a step", flush=True)
            else:
                print("  no Rscript: mclust is left out")
        try:
            theirs = [statistics.median(v) for v in zip(*(bayesian(x, k, (2, 6)) for _ in range(min(a.rounds, 3))))]
            out[name]["BayesianGaussianMixture"], out[name]["GaussianMixture"] = theirs[0] / own["vb"], theirs[1] / beside
            print(f"  BayesianGaussianMixture takes {theirs[0] / own['vb']:.1f} times as long a step as vb, GaussianMixture {theirs[1] / beside:.1f} times a plain one of the same iterations", flush=True)
        except ImportError:
            print("  no scikit-learn")
    if a.json:
        json.dump(out, open(a.json, "w"), indent=1)


if __name__ == "__main__":
    main()
