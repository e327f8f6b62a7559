#!/usr/bin/env python3
"""latent against the libraries a user would pick instead: same rows, same start, same number of iterations, interleaved.

    go build -o /tmp/latent ./cmd/latent
    python3 bench/peers.py --latent /tmp/latent [--shapes km16,gmm16,...] [--rounds 5] [--threads 2] [--peers sklearn,onedal,...] [--optimum STARTS] [--json FILE]

Prints for every shape the median milliseconds an iteration of each library and the most memory its process had in the first fit, its own program and the rows included, the ratio of the best peer to latent, latent's GFLOP/s and their share of the peak that
`latent doctor` measures on the same machine with the same number of threads.

Needs numpy; each peer that can be imported takes part: scikit-learn, daal4py (oneDAL; pip install scikit-learn-intelex), faiss-cpu, mlpack. One process a peer, kept alive.
Milliseconds an iteration = (fit of HI iterations - fit of LO iterations) / (HI - LO), so start-up, validation and reading cancel; for latent the `timing.fit` of its --json is used: climbing and the certificate, without the labels and standard errors that peers do not compute.
A fit that did not do the iterations asked for is not counted. The objective after HI iterations must agree: that is what makes it the same work.
--optimum STARTS (mixtures): from each of several starts, seconds to within 1e-6 nats a row of EM's own end: EM's sweeps to get there times the best peer's time a sweep, against latent's own default, its
certificate included. Two climbers from one start need not end on the same hill: starts from which latent ends lower have no ratio and are counted, and the best ends of all starts are printed.
Quote ratios of medians from one run with the machine named; never times."""
import argparse, json, math, multiprocessing, os, resource, statistics, subprocess, sys, tempfile, time

SHAPES = {  # name: (model, n, d, k, dtype, LO, HI)
    "km16": ("kmeans", 1_000_000, 16, 64, "float32", 3, 13), "km128": ("kmeans", 200_000, 128, 256, "float32", 3, 13), "km784": ("kmeans", 100_000, 784, 10, "float32", 3, 13),
    "km2": ("kmeans", 1_000_000, 2, 10, "float32", 3, 33), "km1000": ("kmeans", 100_000, 32, 1000, "float32", 3, 13),
    "gmm16": ("full", 100_000, 16, 16, "float64", 1, 6), "gmm64": ("full", 100_000, 64, 8, "float64", 1, 4), "gmm3": ("full", 1_000_000, 3, 40, "float64", 1, 4),
    "diag16": ("diag", 1_000_000, 16, 32, "float64", 1, 4),
    # Unbalanced: EM's log-likelihood looks finished long before it is. --optimum is for them; n rows are drawn in the proportions of UNBALANCED.
    "2g": ("full", 100_000, 2, 2, "float64", 5, 45), "4g": ("full", 100_000, 2, 4, "float64", 5, 45), "10d": ("full", 100_000, 10, 4, "float64", 2, 12), "6g": ("full", 100_000, 5, 6, "float64", 2, 22),
    # Many groups and wide tables, where memory counts too: named by --shapes.
    "many64": ("kmeans", 100_000, 64, 1000, "float32", 3, 13), "many256": ("kmeans", 200_000, 256, 1000, "float32", 3, 8),
    "manydiag": ("diag", 100_000, 16, 256, "float64", 1, 4), "manyfull": ("full", 100_000, 16, 256, "float64", 1, 3), "wide500": ("full", 20_000, 500, 4, "float64", 1, 3),
    "tiny-km": ("kmeans", 20_000, 8, 8, "float32", 3, 13), "tiny-gmm": ("full", 20_000, 4, 4, "float64", 1, 6),
}


def stream(seed, n):
    """n uniform numbers from a generator that anyone can repeat (Knuth's 64-bit congruential)."""
    out = []
    for _ in range(n):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append((seed >> 11) / 2.0**53)
    return out


def normals(seed, n):
    u = stream(seed, 2 * n)
    return [math.sqrt(-2 * math.log(1 - u[2 * i])) * math.cos(2 * math.pi * u[2 * i + 1]) for i in range(n)]


def unbalanced(name):
    """Shares, means and variances by column of the unbalanced mixtures."""
    import numpy as np
    if name == "2g":
        return [7995, 205], np.array([[0, 0], [2.2, 1]]), np.array([[1, 1], [.3, .3]])
    if name == "4g":
        return [7200, 400, 240, 160], np.array([[0, 0], [2.5, 1], [-2, 2], [1, -3]]), np.array([[1, 1], [.3, .3], [.4, .4], [.3, .3]])
    share, seed, scale, d = ([1800, 750, 300, 150], 5, 1, 10) if name == "10d" else ([900, 750, 600, 360, 240, 150], 9, 1.5, 5)
    k = len(share)
    return share, scale * np.array(normals(seed, d * k)).reshape(k, d), .3 + 1.7 * np.array(stream(seed + 1, d * k)).reshape(k, d)


def rows(name, rng):
    """Overlapping blobs, typical distance of two centres 4 standard deviations; or an unbalanced mixture."""
    import numpy as np
    _, n, d, k, dtype, *_ = SHAPES[name]
    if name in ("2g", "4g", "10d", "6g"):
        share, mean, var = unbalanced(name)
        z = rng.choice(k, n, p=np.array(share) / sum(share))
        return mean[z] + rng.normal(size=(n, d)) * var[z]**.5
    centres = rng.normal(size=(k, d)) * 4 / (2 * d) ** 0.5
    return (centres[rng.integers(0, k, n)] + rng.normal(size=(n, d))).astype(dtype)


def make(name, folder, starts=1):
    """Rows, and starts of k rows, identity covariances and equal weights."""
    import numpy as np
    model, n, d, k, dtype, *_ = SHAPES[name]
    rng = np.random.default_rng(d * 1000 + k)
    x = rows(name, rng)
    np.save(os.path.join(folder, name + ".npy"), x)
    cov = [np.eye(d).tolist()] * k if model == "full" else [[1.0] * d] * k
    for i in range(starts):
        start, at = x[rng.choice(n, k, replace=False)].astype("float64"), os.path.join(folder, f"{name}-start{i or ''}")
        np.save(at + ".npy", start)
        np.savetxt(at + ".csv", start, delimiter=",", fmt="%.17g")
        json.dump({"format": "latent-model", "version": 1, "model": "gmm", "covariance": model, "columns": [f"{i + 1}" for i in range(d)], "weights": [1 / k] * k, "means": start.tolist(), "covariances": cov},
                  open(at + ".json", "w"))


def flops(name):
    """Floating point operations of one iteration, as the fastest known way counts them: a multiply and an add are two."""
    model, n, d, k, *_ = SHAPES[name]
    if model == "kmeans":
        return 2 * n * k * d
    if model == "diag":
        return 4 * n * k * (1 + 2 * d)
    return 4 * n * k * (1 + d + d * (d + 1) // 2) if d < 32 else 2 * n * k * d * (d + 1)


# --- one peer in one process: "ITERATIONS" a line on stdin, a JSON line back -----------------------
def worker(peer, name, folder, threads):
    import numpy as np
    model, n, d, k, dtype, *_ = SHAPES[name]
    x, start = np.load(os.path.join(folder, name + ".npy")), np.load(os.path.join(folder, name + "-start.npy"))
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def kmeans_objective(c):
        c, s = np.asarray(c, "float64"), 0.0
        for i in range(0, n, 20000):
            b = x[i:i + 20000].astype("float64")
            s += np.maximum((b * b).sum(1)[:, None] - 2 * b @ c.T + (c * c).sum(1), 0).min(1).sum()
        return s

    def fit(m):
        if model == "kmeans":
            if peer == "sklearn":
                from sklearn.cluster import KMeans
                g = KMeans(k, init=start.astype(dtype), n_init=1, max_iter=m, tol=0, algorithm="lloyd", copy_x=False).fit(x)
                return g.n_iter_, g.cluster_centers_
            if peer == "onedal":
                import daal4py
                daal4py.daalinit(threads)
                r = daal4py.kmeans(k, m, fptype="float", accuracyThreshold=0.0, assignFlag=False).compute(x, start.astype(dtype))
                return int(r.nIterations[0, 0]), r.centroids
            if peer == "faiss":
                import faiss
                faiss.omp_set_num_threads(threads)
                g = faiss.Kmeans(d, k, niter=m, max_points_per_centroid=10**9, min_points_per_centroid=1, nredo=1)
                g.train(x, init_centroids=start.astype("float32"))
                return len(g.iteration_stats), g.centroids
            if peer == "mlpack":
                import mlpack
                r = mlpack.kmeans(input_=x.astype("float64"), clusters=k, initial_centroids=start, max_iterations=m, algorithm="hamerly", labels_only=True)
                return m, r["centroid"]
        else:
            w = np.full(k, 1 / k)
            if peer == "sklearn":
                import warnings
                from sklearn.mixture import GaussianMixture
                from threadpoolctl import threadpool_limits
                warnings.filterwarnings("ignore")
                p = np.array([np.eye(d)] * k) if model == "full" else np.ones((k, d))
                g = GaussianMixture(k, covariance_type=model, reg_covar=0)
                g.weights_, g.means_, g.covariances_, g.precisions_cholesky_ = w, start.copy(), p, p
                with threadpool_limits(limits=threads, user_api="blas"):
                    for _ in range(m):
                        ll, lr = g._e_step(x)
                        g._m_step(x, lr)
                return m, float(ll) * n
            if peer == "onedal":
                import daal4py
                daal4py.daalinit(threads)
                cov = [np.eye(d) if model == "full" else np.ones((1, d)) for _ in range(k)]
                r = daal4py.em_gmm(k, fptype="double", maxIterations=m, accuracyThreshold=0.0, regularizationFactor=1e-12, covarianceStorage="full" if model == "full" else "diagonal").compute(x, w.reshape(1, k), start, cov)
                return int(np.ravel(r.nIterations)[0]), float(np.ravel(r.goalFunction)[0])
        raise ImportError("not for this model")

    for line in sys.stdin:
        m, wanted = line.split()
        try:
            t = time.perf_counter()
            did, what = fit(int(m))
            t = time.perf_counter() - t
            a = {"seconds": t, "did": did, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
            if wanted == "objective":
                # What a mixture reports is the log-likelihood before its last M-step: one more iteration tells that after it.
                a["objective"] = kmeans_objective(what) if model == "kmeans" else fit(int(m) + 1)[1]
        except ImportError as e:
            a = {"missing": str(e)}
        except Exception as e:
            a = {"error": repr(e)[:200]}
        answer.write(json.dumps(a) + "\n")
        answer.flush()


class Peer:
    def __init__(self, peer, name, folder, threads, env):
        self.name = peer
        self.p = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", peer, name, folder, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)

    def fit(self, m, objective=False):
        self.p.stdin.write(f"{m} {'objective' if objective else '-'}\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline() or '{"error": "ended"}')

    def close(self):
        self.p.stdin.close()
        self.p.wait()


class Latent:
    name = "latent"

    def __init__(self, path, name, folder, threads):
        self.model, _, _, self.k, dtype, *_ = SHAPES[name]
        self.base = [path, "fit", os.path.join(folder, name + ".npy"), "-k", str(self.k), "--threads", str(threads), "--json", "--allow-unconverged", "--no-progress"]
        self.folder, self.shape = folder, name
        if self.model == "kmeans":
            self.base += ["--model", "kmeans", "--init", "centers:" + os.path.join(folder, name + "-start.csv")] + (["--float32"] if dtype == "float32" else [])
        else:
            self.base += ["--covariance", self.model, "--init", "model:" + os.path.join(folder, name + "-start.json"), "--reg-covar", "0"]

    def run(self, *more, start=0):
        t = time.perf_counter()
        base = [a.replace("-start.", f"-start{start or ''}.") for a in self.base]
        with tempfile.TemporaryFile("w+") as said:
            p = subprocess.Popen(base + list(more), stdout=subprocess.PIPE, stderr=said, text=True)
            out = p.stdout.read()
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode, t = os.waitstatus_to_exitcode(status), time.perf_counter() - t
            if p.returncode:
                said.seek(0)
                return {"error": said.read().strip()[-200:]}
        return {**json.loads(out), "wall": t, "megabytes": usage.ru_maxrss / 1024}

    def fit(self, m, objective=False):
        how = ["--max-iter", str(m)] + ([] if self.model == "kmeans" else ["--algorithm", "em", "--tol", "0"])
        r = self.run(*how)
        if "error" in r:
            return r
        return {"seconds": r["timing"]["fit"], "wall": r["wall"], "megabytes": r["megabytes"], "did": r["iterations"], "objective": r["inertia"] if self.model == "kmeans" else r["log_likelihood"]}

    def close(self):
        pass


def optimum(me, trace, n, starts, peer, mine):
    """Races latent's default against EM from several starts. peer and mine are milliseconds a sweep of EM."""
    runs, lower = [], 0
    for i in range(starts):
        em = me.run("--algorithm", "em", "--max-iter", "20000", "--tol", "1e-4", "--trace", trace, start=i)
        target = em["log_likelihood"] - 1e-6 * n
        lines = open(trace).read().split()
        head = lines[0].split(",")
        sweep, ll = head.index("sweep"), head.index("log_likelihood")
        need = next((int(v[sweep]) for v in (x.split(",") for x in lines[1:]) if float(v[ll] or "-inf") >= target), em["sweeps"])
        ours = me.run(start=i)
        runs.append({"em_sweeps": need, "em_log_likelihood": em["log_likelihood"], "em_converged": em["converged"], "latent_sweeps": ours["sweeps"], "latent_seconds": ours["timing"]["fit"],
                     "latent_log_likelihood": ours["log_likelihood"], "ratio": peer * need / 1e3 / ours["timing"]["fit"] if ours["log_likelihood"] >= target else None})
        lower += ours["log_likelihood"] < target
        print(f"         start {i + 1}: EM {need} sweeps, latent {ours['sweeps']}; latent - EM {ours['log_likelihood'] - em['log_likelihood']:+.2g} nats"
              + (f"; ratio {runs[-1]['ratio']:.1f}" if runs[-1]["ratio"] else "; lower: no ratio"), flush=True)
    won = [r for r in runs if r["ratio"]]
    if not won:
        print("         to the optimum: latent ended lower from every start")
        return {"runs": runs}
    mid = {key: statistics.median(r[key] for r in won) for key in ("em_sweeps", "latent_sweeps", "ratio")}
    best = [max(r[key] for r in runs) for key in ("latent_log_likelihood", "em_log_likelihood")]
    fewer = statistics.median(r["em_sweeps"] / r["latent_sweeps"] for r in won)
    print(f"         to the optimum, medians of {len(won)} of {starts} starts ({lower} ended lower): EM {mid['em_sweeps']:g} sweeps, latent {mid['latent_sweeps']:g}, {fewer:.1f} times fewer; "
          f"ratio to the best peer {mid['ratio']:.1f} (a sweep {peer / mine:.1f} x {fewer:.1f} = {peer / mine * fewer:.1f}); best of all starts: latent - EM {best[0] - best[1]:+.2g} nats")
    return {"runs": runs, "lower": lower, **mid, "fewer": fewer, "best_minus_em": best[0] - best[1]}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--latent")
    a.add_argument("--shapes", default=",".join(s for s in SHAPES if not s.startswith(("tiny", "many", "wide")) and s not in ("2g", "4g", "10d", "6g")))
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--peers", default="sklearn,onedal,faiss,mlpack")
    a.add_argument("--optimum", type=int, default=0, metavar="STARTS")
    a.add_argument("--json")
    o = a.parse_args()
    folder = tempfile.mkdtemp(prefix="latent-bench-")
    env = {k: v for k, v in os.environ.items() if not (k.startswith("OPENBLAS_") and k.endswith("THREADS"))}
    env.update(OMP_NUM_THREADS=str(o.threads))
    peak = json.loads(subprocess.run([o.latent, "doctor", "--json", "--threads", str(o.threads)], capture_output=True, text=True).stdout) if o.latent else None
    if peak:
        print(f"latent {peak['version']}, {peak['level']}, {o.threads} threads; peak {peak['gflops']['fp32']:.0f} GFLOP/s fp32, {peak['gflops']['fp64']:.0f} fp64; {peak['bandwidth_gbs']:.0f} GB/s")
    out = []
    for name in o.shapes.split(","):
        model, n, d, k, dtype, lo, hi = SHAPES[name]
        # In a process of its own: the peak of memory of a child counts what its parent held.
        maker = multiprocessing.get_context("spawn").Process(target=make, args=(name, folder, max(o.optimum, 1)))
        maker.start()
        maker.join()
        if maker.exitcode:
            sys.exit(1)  # it has said why
        who = ([Latent(o.latent, name, folder, o.threads)] if o.latent else []) + [Peer(p, name, folder, o.threads, env) for p in o.peers.split(",")]
        first = {w.name: w.fit(hi, True) for w in who}
        for w in list(who):
            f = first[w.name]
            if "did" not in f or f["did"] != hi:
                if "missing" not in f:
                    print(f"  {name}: {w.name} left out: {f.get('error') or 'did %s of %s iterations' % (f.get('did'), hi)}")
                w.close()
                who.remove(w)
        ms, wall = {w.name: [] for w in who}, []
        for _ in range(o.rounds):
            for w in who:
                a1, a2 = w.fit(lo), w.fit(hi)
                if "seconds" in a1 and "seconds" in a2:
                    ms[w.name].append((a2["seconds"] - a1["seconds"]) / (hi - lo) * 1e3)
                    if "wall" in a1:
                        wall.append((a2["wall"] - a1["wall"]) / (hi - lo) * 1e3)
        mid = {p: statistics.median(v) for p, v in ms.items() if v}
        for p in [p for p in mid if mid[p] <= 0]:  # the noise is larger than the iterations: use more of them
            print(f"  {name}: {p} left out: its times make no sense, {mid.pop(p):.2f} ms")
        ours = first.get("latent", {}).get("objective")
        other = {p for p in mid if ours is not None and abs((first[p].get("objective") or ours) - ours) > 1e-5 * abs(ours)}
        rival = min(((v, p) for p, v in mid.items() if p != "latent" and p not in other), default=(None, None))
        print(f"{name:8s} {model} n={n:,} d={d} k={k} {dtype}: " + ", ".join(f"{p} {mid[p]:.2f} ms [{min(ms[p]):.2f}-{max(ms[p]):.2f}] objective {first[p].get('objective'):.10g}, {first[p]['megabytes']:.0f} MB" for p in mid), flush=True)
        row = {"shape": name, "model": model, "n": n, "d": d, "k": k, "dtype": dtype, "ms": ms, "objective": {p: first[p].get("objective") for p in mid}, "megabytes": {p: first[p]["megabytes"] for p in mid}}
        if wall and statistics.median(wall) > 1.5 * mid["latent"] + 0.5:
            print(f"         latent's own clock says {mid['latent']:.2f} ms, the wall {statistics.median(wall):.2f}: its figure does not count")
            mid.pop("latent")
        for p in other:
            print(f"         {p} ends at another objective, more than 1e-5 away: not the same work, no ratio to it")
        if "latent" in mid and rival[0]:
            row["best_peer"], row["ratio"] = rival[1], rival[0] / mid["latent"]
            print(f"         ratio to the best peer ({rival[1]}): {row['ratio']:.2f}")
        if "latent" in mid and peak:
            row["gflops"] = flops(name) / mid["latent"] / 1e6
            row["share"] = row["gflops"] / peak["gflops"]["fp32" if dtype == "float32" else "fp64"]
            print(f"         {row['gflops']:.0f} GFLOP/s, {row['share']:.0%} of the {dtype} peak")
        if o.optimum and "latent" in mid and model != "kmeans":
            row["optimum"] = optimum(who[0], os.path.join(folder, "trace.csv"), n, o.optimum, rival[0], mid["latent"])
        out.append(row)
        for w in who:
            w.close()
        os.remove(os.path.join(folder, name + ".npy"))
    if o.json:
        json.dump({"machine": open("/proc/cpuinfo").read().split("model name")[1].split("\n")[0].strip(" :\t") if os.path.exists("/proc/cpuinfo") else "", "threads": o.threads, "rows": out}, open(o.json, "w"), indent=1)


if __name__ != "__main__":  # bench/defaults.py takes the shapes
    pass
elif len(sys.argv) > 1 and sys.argv[1] == "--worker":
    worker(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
else:
    main()
