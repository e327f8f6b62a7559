#!/usr/bin/env python3
"""From a CSV to a CSV of labels: the whole process of `latent fit` against a pandas + scikit-learn script, interleaved.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/whole.py --latent /tmp/latent [--rows 1000000] [--columns 16] [-k 16] [--rounds 5] [--threads 2] [--json FILE]

Two comparisons, never mixed. "equal": k-means from one k-means++ start, 20 iterations each, stopping disabled. "defaults": what a user gets who names nothing but k, with the inertia each reached.
Seconds are wall time of the process, start-up, reading, fitting and writing included; memory is its peak resident set. Needs numpy, pandas and scikit-learn."""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

SCRIPT = """
import sys
import pandas as pd
from sklearn.cluster import KMeans
x = pd.read_csv(sys.argv[1]).to_numpy()
k = int(sys.argv[3])
m = (KMeans(k, n_init=1, random_state=0, max_iter=20, tol=0) if sys.argv[4] == "equal" else KMeans(k, random_state=0)).fit(x)
pd.DataFrame({"label": m.labels_}).to_csv(sys.argv[2])
print(m.n_iter_, m.inertia_)
"""


def make(path, n, d, k):
    import numpy as np
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(k, d)) * 4 / (2 * d) ** 0.5
    x = centres[rng.integers(0, k, n)] + rng.normal(size=(n, d))
    with open(path, "w") as f:
        f.write(",".join(f"c{j}" for j in range(d)) + "\n")
        for i in range(0, n, 10000):
            np.savetxt(f, x[i:i + 10000], fmt="%.17g", delimiter=",")


def run(args, env):
    """Returns seconds, peak memory in MB, standard output."""
    t = time.perf_counter()
    p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    out, err = p.stdout.read(), p.stderr.read()
    _, status, usage = os.wait4(p.pid, 0)
    t = time.perf_counter() - t
    if status:
        sys.exit(f"{args[0]}: {err.strip()[-300:]}")
    return t, usage.ru_maxrss / 1024, out


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--latent", required=True)
    a.add_argument("--rows", type=int, default=1_000_000)
    a.add_argument("--columns", type=int, default=16)
    a.add_argument("-k", type=int, default=16)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--json")
    o = a.parse_args()
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")}
    env.update(OMP_NUM_THREADS=str(o.threads))
    result = {}
    with tempfile.TemporaryDirectory(prefix="latent-bench-") as folder:
        at = lambda name: os.path.join(folder, name)
        make(at("x.csv"), o.rows, o.columns, o.k)
        open(at("peer.py"), "w").write(SCRIPT)
        print(f"{o.rows:,} x {o.columns}, k = {o.k}: a CSV of {os.path.getsize(at('x.csv')) / 1e6:.0f} MB, {o.threads} threads")
        for how in ("equal", "defaults"):
            ours = [o.latent, "fit", at("x.csv"), "-k", str(o.k), "--model", "kmeans", "--labels", at("ours.csv"), "--threads", str(o.threads), "--json", "--no-progress"]
            if how == "equal":
                ours += ["--n-init", "1", "--max-iter", "20", "--allow-unconverged"]
            theirs = [sys.executable, at("peer.py"), at("x.csv"), at("theirs.csv"), str(o.k), how]
            got = {"latent": [], "scikit-learn": []}
            for _ in range(o.rounds):
                got["latent"].append(run(ours, env))
                got["scikit-learn"].append(run(theirs, env))
            j = json.loads(got["latent"][0][2])
            iterations, inertia = got["scikit-learn"][0][2].split()
            mid = {w: [statistics.median(r[i] for r in v) for i in (0, 1)] for w, v in got.items()}
            ratio = [mid["scikit-learn"][i] / mid["latent"][i] for i in (0, 1)]
            print(f"{how:8s}: latent {mid['latent'][0]:.2f} s, {mid['latent'][1]:.0f} MB ({j['starts']['n']} starts, {j['iterations']} iterations, inertia {j['inertia']:.8g}); "
                  f"pandas + scikit-learn {mid['scikit-learn'][0]:.2f} s, {mid['scikit-learn'][1]:.0f} MB (1 start, {iterations} iterations, inertia {float(inertia):.8g}); {ratio[0]:.1f} times faster, {1 / ratio[1]:.0%} of the memory", flush=True)
            result[how] = {"seconds": {w: [r[0] for r in v] for w, v in got.items()}, "megabytes": {w: [r[1] for r in v] for w, v in got.items()}, "ratio": ratio[0], "memory": 1 / ratio[1],
                           "inertia": {"latent": j["inertia"], "scikit-learn": float(inertia)}}
    if o.json:
        json.dump(result, open(o.json, "w"), indent=1)


main()
