#!/usr/bin/env python3
"""What a sweep of a hidden Markov model costs beside hmmlearn's, from the same start, and how many sweeps EM and EM-L-BFGS take to the maximum.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/hmm.py --latent /tmp/latent [--rounds 5] [--json FILE]

Processor seconds a sweep, user and system together, = (fit of HI iterations - fit of LO iterations) / (sweeps of one - sweeps of the other), of EM's own steps by one thread
(--algorithm em --tol 0 --threads 1), so that start and reading cancel; of hmmlearn by implementation="scaling" and one BLAS thread, without its prior of variances, so that both
make the same steps: their log-likelihoods are compared. Rounds are interleaved; ratios of medians are printed. Needs numpy and hmmlearn. Quote ratios of one run with the machine
named; never times."""
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import argparse, json, logging, resource, statistics, subprocess, sys, tempfile, time

# sequences, rows of each, columns, states, iterations of the shorter and of the longer fit
SHAPES = [(100, 500, 4, 5, 5, 105), (100, 500, 2, 20, 5, 55), (1, 50_000, 4, 5, 5, 105)]


def rows(sequences, n, d, k):
    """Overlapping states, left once in ten rows."""
    import numpy as np
    rng = np.random.default_rng(sequences + k)
    mean, at = 2 * rng.normal(size=(k, d)), np.zeros(sequences * n, int)
    for i in range(1, len(at)):
        at[i] = rng.integers(k) if rng.random() < 0.1 else at[i - 1]
    return mean, mean[at] + rng.normal(size=(len(at), d))


def fit(a, path, k, start, flags):
    """What a fit came to, and the processor seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run([a.latent, "fit", path, "-k", str(k), "--model", "hmm", "--sequence", "s", "--covariance", "full", "--init", "model:" + start, "--threads", "1", "--json", *flags], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode not in (0, 3):
        sys.exit(r.stderr)
    return json.loads(r.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def own(a, path, k, start, its):
    fits = [fit(a, path, k, start, ["--algorithm", "em", "--tol", "0", "--max-iter", str(it)]) for it in its]
    return (fits[1][1] - fits[0][1]) / (fits[1][0]["sweeps"] - fits[0][0]["sweeps"])


def theirs(x, lengths, mean, its):
    """Processor seconds a step of hmmlearn, and the log-likelihood where the last step began."""
    import numpy as np
    from hmmlearn import hmm
    logging.getLogger("hmmlearn").setLevel(logging.CRITICAL)
    (k, d), took = mean.shape, []
    for it in its:
        m = hmm.GaussianHMM(k, "full", n_iter=it, tol=-np.inf, implementation="scaling", init_params="", covars_prior=0, covars_weight=0)
        m.startprob_, m.transmat_, m.means_, m.covars_ = np.ones(k) / k, np.ones((k, k)) / k, mean.copy(), np.array([np.eye(d)] * k)
        began = time.process_time()
        m.fit(x, lengths)
        took.append(time.process_time() - began)
    return (took[1] - took[0]) / (its[1] - its[0]), m.monitor_.history[-1]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--latent", required=True)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--json")
    a = p.parse_args()
    import numpy as np
    folder, out = tempfile.mkdtemp(prefix="latent-bench-"), {}
    path, start = os.path.join(folder, "x.csv"), os.path.join(folder, "start.json")
    for sequences, n, d, k, lo, hi in SHAPES:
        mean, x = rows(sequences, n, d, k)
        table = np.column_stack([np.repeat(np.arange(sequences), n), x])
        np.savetxt(path, table, delimiter=",", header="s," + ",".join(f"c{j}" for j in range(d)), comments="", fmt="%.17g")
        json.dump({"format": "latent-model", "version": 1, "model": "hmm", "emission": "gmm", "covariance": "full", "columns": [f"c{j}" for j in range(d)], "initial": [1 / k] * k,
                   "transitions": [[1 / k] * k] * k, "means": mean.tolist(), "covariances": [np.eye(d).tolist()] * k}, open(start, "w"))
        ours, other = [], []
        for _ in range(a.rounds):
            ours.append(own(a, path, k, start, (lo, hi)))
            seconds, at = theirs(x, [n] * sequences, mean, (2, 6))
            other.append(seconds)
        same, _ = fit(a, path, k, start, ["--algorithm", "em", "--tol", "0", "--max-iter", "5"])
        ratio = statistics.median(other) / statistics.median(ours)
        name = f"{sequences} x {n}, d {d}, k {k}"
        r = subprocess.run([a.latent, "compare", path, "-k", str(k), "--model", "hmm", "--sequence", "s", "--init", "model:" + start, "--algorithms", "em,em-lbfgs", "--max-iter", "5000", "--json"], capture_output=True, text=True)
        if r.returncode not in (0, 3):
            sys.exit(r.stderr)
        sweeps = {c["algorithm"]: (c["sweeps"]["median"], c["log_likelihood"]["best"]) for c in json.loads(r.stdout)}
        out[name] = {"ratio": ratio, "ms": 1000 * statistics.median(ours), "hmmlearn_ms": 1000 * statistics.median(other), "sweeps": sweeps}
        print(f"{name}: hmmlearn takes {ratio:.1f} times as long a sweep ({1000 * statistics.median(other):.1f} and {1000 * statistics.median(ours):.2f} ms); after five steps both are at {same['log_likelihood']:.6f} and {at:.6f}; "
              + ", ".join(f"{v} {s} sweeps to {l:.4f}" for v, (s, l) in sweeps.items()), flush=True)
    if a.json:
        json.dump(out, open(a.json, "w"), indent=1)


if __name__ == "__main__":
    main()
