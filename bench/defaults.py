#!/usr/bin/env python3
"""Nothing but rows and k: a whole default fit of latent beside scikit-learn's, in turns.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/defaults.py --latent /tmp/latent [--shapes 2g,4g,10d,6g,gmm16,gmm64,300k,km16,...] [--rounds 3] [--threads 2]

Mixtures: GaussianMixture(k).fit(x), one start of k-means, until the mean log-likelihood of a row changes by less than 1e-3, against `latent fit -k K`: several starts, moves, a certificate.
K-means: KMeans(k).fit(x), one greedy k-means++ start of Lloyd's algorithm, against `latent fit --model kmeans -k K`. Shapes are those of bench/peers.py, and 300k: overlapping blobs, (300000, 16, 8).
Prints the medians of seconds of both, the ratio theirs / latent's of wall-clock time and of processor time (what matters where the machine is busy), and log-likelihood or inertia: latent's less theirs.
latent's time is its start and fit with the certificate, without reading, labels and standard errors; its processor time is that of the whole process, less that of a fit with --max-iter 0, which reads and judges too.
Needs numpy and scikit-learn. Quote ratios from one run with the machine named."""
import argparse, json, os, resource, statistics, subprocess, sys, tempfile, time

import peers

SHAPES = ["2g", "4g", "10d", "6g", "gmm16", "gmm64", "gmm3", "diag16", "300k", "km16", "km128", "km784", "km2", "km1000"]


def cpu(who):
    r = resource.getrusage(who)
    return r.ru_utime + r.ru_stime


def latent(path, file, shape, threads, *more):
    model, _, _, k, dtype, *_ = shape
    how = ["--model", "kmeans"] + (["--float32"] if dtype == "float32" else []) if model == "kmeans" else ["--covariance", model]
    before = cpu(resource.RUSAGE_CHILDREN)
    p = subprocess.run([path, "fit", file, "-k", str(k), "--threads", str(threads), "--json", "--no-progress", "--allow-unconverged", *how, *more], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)
    r = json.loads(p.stdout)
    return r["timing"]["start"] + r["timing"]["fit"], cpu(resource.RUSAGE_CHILDREN) - before, -r["inertia"] if model == "kmeans" else r["log_likelihood"], r["sweeps_total"]


def sklearn(x, shape, threads, seed):
    import warnings
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits
    warnings.filterwarnings("ignore")
    model, n, _, k, *_ = shape
    with threadpool_limits(limits=threads):
        t, c = time.perf_counter(), cpu(resource.RUSAGE_SELF)
        g = (KMeans(k, random_state=seed) if model == "kmeans" else GaussianMixture(k, covariance_type=model, random_state=seed)).fit(x)
        t, c = time.perf_counter() - t, cpu(resource.RUSAGE_SELF) - c
        return t, c, -float(g.inertia_) if model == "kmeans" else float(g.score(x)) * n, g.n_iter_


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--latent", required=True)
    a.add_argument("--shapes", default=",".join(SHAPES))
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--threads", type=int, default=2)
    o = a.parse_args()
    import numpy as np
    peers.SHAPES["300k"] = ("full", 300_000, 16, 8, "float64", 1, 6)
    print("shape       latent s   theirs s   ratio   ratio of processor time   latent less theirs (nats, or inertia saved)   passes, theirs")
    with tempfile.TemporaryDirectory(prefix="latent-bench-") as folder:
        for name in o.shapes.split(","):
            shape = peers.SHAPES[name]
            x = peers.rows(name, np.random.default_rng(shape[2] * 1000 + shape[3]))
            file = os.path.join(folder, name + ".npy")
            np.save(file, x)
            rest = [] if shape[0] == "kmeans" else ["--init", "random", "--n-init", "1"]
            idle = statistics.median(latent(o.latent, file, shape, o.threads, "--max-iter", "0", *rest)[1] for _ in range(o.rounds))
            ours, theirs = [], []
            for seed in range(1, o.rounds + 1):
                ours.append(latent(o.latent, file, shape, o.threads, "--seed", str(seed)))
                theirs.append(sklearn(x, shape, o.threads, seed))
            mid = [[statistics.median(r[i] for r in runs) for i in range(4)] for runs in (ours, theirs)]
            gain = [u[2] - v[2] for u, v in zip(ours, theirs)]
            print(f"{name:8s} {mid[0][0]:11.3f} {mid[1][0]:10.3f} {mid[1][0] / mid[0][0]:7.2f} {mid[1][1] / max(mid[0][1] - idle, 1e-3):12.2f} {' ' * 14} {statistics.median(gain):+.4g} (least {min(gain):+.4g})   {mid[0][3]:g}, {mid[1][3]:g}", flush=True)
            os.remove(file)


if __name__ == "__main__":
    main()
