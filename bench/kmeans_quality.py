#!/usr/bin/env python3
"""How often one default k-means finds the best inertia known, and in what time, beside the best of ten starts of scikit-learn.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/kmeans_quality.py --latent /tmp/latent [--seeds 20] [--all] [--rounds 3] [--threads 2] [--json FILE]

Digits with k = 10, iris with k = 2 to 10 and wine as it is with k = 3, every one with the seeds 1 to 20; --all takes all of testdata/oracle/optimum/kmeans.json, which holds the best inertia of a thousand starts and more.
An end counts as the best where its inertia is at most that, but for 1e-9 of it: it may be lower, and the last column counts those that are.
Milliseconds are medians. "fit": latent's `timing` without reading and writing, from a process that has just begun (first look at the rows, starts, climbs, labels), against the call of KMeans(k, n_init=10).fit(x) in one that is warm.
"process": all of it, from start-up to the end, median of a few rounds. Both take turns, with the same number of threads. Needs numpy and scikit-learn."""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

PEER = """
import sys
import numpy as np
from sklearn.cluster import KMeans
x = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
print(KMeans(int(sys.argv[2]), n_init=10, random_state=int(sys.argv[3])).fit(x).inertia_)
"""
USUAL = {("data/digits.csv.gz", 10), ("data/wine.csv", 3)} | {("data/iris.csv", k) for k in range(2, 11)}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--latent", required=True)
    a.add_argument("--seeds", type=int, default=20)
    a.add_argument("--all", action="store_true")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--json")
    o = a.parse_args()
    os.environ.update(OMP_NUM_THREADS=str(o.threads), OPENBLAS_NUM_THREADS=str(o.threads))
    import numpy as np
    from sklearn.cluster import KMeans
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    fits = json.load(open(os.path.join(root, "testdata/oracle/optimum/kmeans.json")))["fits"]
    table = []
    print("| data | k | best known in N fits: latent | scikit-learn | fit, ms: latent | scikit-learn | ratio | process, ms: latent | scikit-learn | lower than the best known |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="latent-bench-") as folder:
        peer, csv = os.path.join(folder, "peer.py"), os.path.join(folder, "x.csv")
        open(peer, "w").write(PEER)
        for want in fits:
            data, k, plain = want["data"], want["k"], want["data"]["transform"] == "none"
            if not o.all and not (plain and (data["file"], k) in USUAL):
                continue
            x = np.genfromtxt(os.path.join(root, "data/datasets", os.path.basename(data["file"])), delimiter=",", names=True, dtype=None, encoding="utf-8")
            x = np.array([x[c] for c in data["columns"]], dtype=float).T.copy()
            if not plain:
                x = (x - x.mean(0)) / x.std(0)
            np.savetxt(csv, x, fmt="%.17g", delimiter=",", header=",".join(f"c{j}" for j in range(x.shape[1])), comments="")
            ours = lambda seed: [o.latent, "fit", csv, "-k", str(k), "--model", "kmeans", "--seed", str(seed), "--threads", str(o.threads), "--json", "--no-progress"]
            theirs = lambda seed: [sys.executable, peer, csv, str(k), str(seed)]
            best = want["inertia"] * (1 + 1e-9)
            row = {"data": data["file"], "transform": data["transform"], "k": k, "latent": 0, "scikit-learn": 0, "lower": 0}
            ms = {"latent": [], "scikit-learn": []}
            KMeans(k, n_init=1, random_state=0).fit(x)
            for seed in range(1, o.seeds + 1):
                j = json.loads(subprocess.run(ours(seed), stdout=subprocess.PIPE, check=True, text=True).stdout)
                ms["latent"].append(1e3 * sum(j["timing"][t] for t in ("start", "fit", "judge")))
                row["latent"] += j["inertia"] <= best
                row["lower"] += j["inertia"] < want["inertia"] * (1 - 1e-9)
                t = time.perf_counter()
                m = KMeans(k, n_init=10, random_state=seed).fit(x)
                ms["scikit-learn"].append(1e3 * (time.perf_counter() - t))
                row["scikit-learn"] += m.inertia_ <= best
            whole = {"latent": [], "scikit-learn": []}
            for seed in range(1, o.rounds + 1):
                for name, command in (("latent", ours(seed)), ("scikit-learn", theirs(seed))):
                    t = time.perf_counter()
                    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                    whole[name].append(1e3 * (time.perf_counter() - t))
            row["fit"], row["process"] = ({n: statistics.median(v) for n, v in s.items()} if s["latent"] else None for s in (ms, whole))
            fit, process = row["fit"], row["process"] or {"latent": float("nan"), "scikit-learn": float("nan")}
            name = os.path.basename(data["file"]).split(".")[0] + ("" if plain else ", standardised")
            print(f"| {name} | {k} | {row['latent']} of {o.seeds} | {row['scikit-learn']} | {fit['latent']:.1f} | {fit['scikit-learn']:.1f} | {fit['scikit-learn'] / fit['latent']:.1f} "
                  f"| {process['latent']:.0f} | {process['scikit-learn']:.0f} | {row['lower']} |", flush=True)
            table.append(row)
    for name in ("latent", "scikit-learn"):
        print(f"{name}: the best known in {sum(r[name] for r in table)} of {o.seeds * len(table)} fits, {sum(r['fit'][name] for r in table):.1f} ms for one of each")
    if o.json:
        json.dump(table, open(o.json, "w"), indent=1)


main()
