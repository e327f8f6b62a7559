#!/usr/bin/env python3
"""From a CSV to a CSV of labels: the whole process of `latent fit` against a pandas + scikit-learn script, interleaved.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/whole.py --latent /tmp/latent [--rows 1000000] [--columns 16] [-k 16] [--rounds 5] [--threads 2] [--json FILE]

Comparisons that are never mixed. "equal": k-means from one k-means++ start, 20 iterations each, stopping disabled. "defaults": what a user gets who names nothing but k, with the inertia each reached.
"reading": the file as columns of float64 and nothing else, without start-up, beside what latent tells that reading took; of DuckDB and Polars, a bound that users know.
"labels": `latent label` of the rows in an NPY file, to CSV, against a script that loads, predicts with the same 64 centres (--label-k) and writes; and the time of predict alone.
Seconds are wall time of the process, start-up, reading, fitting and writing included, and in brackets processor time, which says more on a machine with other work; memory is its peak resident set. Needs numpy, pandas and scikit-learn, and for "reading" duckdb and polars."""
import argparse, json, multiprocessing, os, statistics, subprocess, sys, tempfile, time

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

READ = {
    "DuckDB": """
import os, sys, time, duckdb
c = duckdb.connect(config={"threads": int(os.environ["OMP_NUM_THREADS"])})
t = time.perf_counter()
x = c.execute("SELECT * FROM read_csv(?)", [sys.argv[1]]).fetchnumpy()
assert all(v.dtype == "float64" for v in x.values())
print(time.perf_counter() - t)
""",
    "Polars": """
import sys, time, polars
t = time.perf_counter()
x = polars.read_csv(sys.argv[1])
assert all(v == polars.Float64 for v in x.dtypes)
print(time.perf_counter() - t)
""",
    "pandas": """
import sys, time, pandas
t = time.perf_counter()
x = pandas.read_csv(sys.argv[1]).to_numpy()
assert x.dtype == "float64"
print(time.perf_counter() - t)
"""}

PREDICT = """
import sys, time
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
x, centres = np.load(sys.argv[1]), np.load(sys.argv[2])
m = KMeans(len(centres), init=centres, n_init=1, max_iter=1).fit(centres)
m.cluster_centers_ = centres
t = time.perf_counter()
labels = m.predict(x)
t = time.perf_counter() - t
pd.DataFrame({"row": np.arange(1, len(x) + 1), "label": labels + 1}).to_csv(sys.argv[3], index=False)
print(t)
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


def apart(f, *args):
    """Calls f in a process of its own: a child's peak memory counts that of its parent when it was made."""
    with multiprocessing.Pool(1) as p:
        return p.apply(f, args)


def run(args, env):
    """Returns seconds, peak memory in MB, standard output, seconds of processor time."""
    t = time.perf_counter()
    p = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    out, err = p.stdout.read(), p.stderr.read()
    _, status, usage = os.wait4(p.pid, 0)
    t = time.perf_counter() - t
    if status:
        sys.exit(f"{args[0]}: {err.strip()[-300:]}")
    return t, usage.ru_maxrss / 1024, out, usage.ru_utime + usage.ru_stime


def middle(runs, at):
    return statistics.median(r[at] for r in runs)


def reading(o, at, env):
    """How long it takes only to read the file."""
    got = {w: [] for w in ("latent", *READ)}
    for w, script in READ.items():
        open(at("read-" + w + ".py"), "w").write(script)
    fit = [o.latent, "fit", at("x.csv"), "-k", "2", "--model", "kmeans", "--n-init", "1", "--max-iter", "1", "--allow-unconverged", "--threads", str(o.threads), "--json", "--no-progress"]
    for _ in range(o.rounds):
        got["latent"].append(json.loads(run(fit, env)[2])["timing"]["read"])
        for w in READ:
            got[w].append(float(run([sys.executable, at("read-" + w + ".py"), at("x.csv")], env)[2]))
    print("reading : " + ", ".join(f"{w} {statistics.median(v):.2f} s (least {min(v):.2f})" for w, v in got.items()), flush=True)
    return got


def to_npy(csv, npy):
    import numpy as np
    np.save(npy, np.loadtxt(csv, delimiter=",", skiprows=1))


def centres_of(model, npy):
    import numpy as np
    np.save(npy, np.array(json.load(open(model))["centers"]))


def differing(ours, theirs):
    """How many labels differ."""
    import numpy as np
    a, b = (np.loadtxt(f, delimiter=",", skiprows=1, usecols=1) for f in (ours, theirs))
    return int((a != b).sum())


def labels(o, at, env):
    """Labels of new rows by a model that is there."""
    apart(to_npy, at("x.csv"), at("x.npy"))
    run([o.latent, "fit", at("x.npy"), "-k", str(o.label_k), "--model", "kmeans", "--n-init", "1", "--max-iter", "5", "--allow-unconverged", "--no-progress", "--quiet", "-o", at("m.json")], env)
    apart(centres_of, at("m.json"), at("centres.npy"))
    open(at("predict.py"), "w").write(PREDICT)
    got = {"latent": [], "scikit-learn": []}
    for _ in range(o.rounds):
        got["latent"].append(run([o.latent, "label", at("m.json"), at("x.npy"), "-o", at("ours.csv"), "--threads", str(o.threads)], env))
        got["scikit-learn"].append(run([sys.executable, at("predict.py"), at("x.npy"), at("centres.npy"), at("theirs.csv")], env))
    ours, theirs = got["latent"], got["scikit-learn"]
    predict = statistics.median(float(r[2]) for r in theirs)
    print(f"labels  : k = {o.label_k}, latent {middle(ours, 0):.2f} s [{middle(ours, 3):.2f}], {middle(ours, 1):.0f} MB; pandas + scikit-learn {middle(theirs, 0):.2f} s [{middle(theirs, 3):.2f}], {middle(theirs, 1):.0f} MB, "
          f"of which predict took {predict:.3f}; {apart(differing, at('ours.csv'), at('theirs.csv'))} labels differ", flush=True)
    return {w: [r[0] for r in v] for w, v in got.items()} | {"predict": [float(r[2]) for r in theirs]}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--latent", required=True)
    a.add_argument("--rows", type=int, default=1_000_000)
    a.add_argument("--columns", type=int, default=16)
    a.add_argument("-k", type=int, default=16)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--label-k", type=int, default=64)
    a.add_argument("--json")
    o = a.parse_args()
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")}
    env.update(OMP_NUM_THREADS=str(o.threads), POLARS_MAX_THREADS=str(o.threads))
    result = {}
    with tempfile.TemporaryDirectory(prefix="latent-bench-") as folder:
        at = lambda name: os.path.join(folder, name)
        apart(make, at("x.csv"), o.rows, o.columns, o.k)
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
            mid = {w: [middle(v, i) for i in (0, 1, 3)] for w, v in got.items()}
            ratio = [mid["scikit-learn"][i] / mid["latent"][i] for i in (0, 1)]
            print(f"{how:8s}: latent {mid['latent'][0]:.2f} s [{mid['latent'][2]:.2f}], {mid['latent'][1]:.0f} MB ({j['starts']['n']} starts, {j['iterations']} iterations, inertia {j['inertia']:.8g}); "
                  f"pandas + scikit-learn {mid['scikit-learn'][0]:.2f} s [{mid['scikit-learn'][2]:.2f}], {mid['scikit-learn'][1]:.0f} MB (1 start, {iterations} iterations, inertia {float(inertia):.8g}); {ratio[0]:.1f} times faster, {1 / ratio[1]:.0%} of the memory", flush=True)
            result[how] = {"seconds": {w: [r[0] for r in v] for w, v in got.items()}, "megabytes": {w: [r[1] for r in v] for w, v in got.items()}, "ratio": ratio[0], "memory": 1 / ratio[1],
                           "inertia": {"latent": j["inertia"], "scikit-learn": float(inertia)}}
        result["reading"] = reading(o, at, env)
        result["labels"] = labels(o, at, env)
    if o.json:
        json.dump(result, open(o.json, "w"), indent=1)


main()
