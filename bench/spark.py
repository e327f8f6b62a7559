#!/usr/bin/env python3
"""latent against Spark ML on a cluster of one master and two workers on this machine: the same rows, the same start, the same number of iterations.

    go build -o /tmp/latent ./cmd/latent
    SPARK_HOME=... python3 bench/spark.py --latent /tmp/latent [--rounds 3] [--json FILE]

Needs Java 17 and, in this Python, pyspark (its folder is taken where SPARK_HOME is not set). Prints, as medians of the rounds,

  - seconds an iteration of k-means (1,000,000 x 16, k = 20) and of full Gaussian mixtures (200,000 x 16 and 2,000,000 x 16, k = 8), all overhead of the cluster included:
    (fit of HI iterations - fit of LO iterations) / (HI - LO), so that start, reading and judging cancel,
  - what a fit with defaults takes and reaches, of both.

Spark ML reads rows that are cached as vectors; latent's are read by Spark and kept by its workers. Quote ratios of one run with the machine named."""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

# Rows, columns, groups, iterations of the shorter and of the longer fit of latent, whose virtual machines are warm at the end of the shorter, and of Spark
# ML, which has had two fits before: with a tolerance of 0 its mixture stops where its log-likelihood does not rise in float64, after 33 iterations here.
SHAPES = {"kmeans": (1_000_000, 16, 20, (20, 60), (20, 60)), "gmm": (200_000, 16, 8, (30, 90), (10, 30)), "gmm, more rows": (2_000_000, 16, 8, (8, 28), (8, 28))}


def rows(name, folder):
    """Overlapping blobs, and the first rows as a start."""
    import numpy as np
    n, d, k, *_ = SHAPES[name]
    rng = np.random.default_rng(7)
    centres = rng.normal(0, 2.2, (k, d))
    x = centres[rng.integers(0, k, n)] + rng.normal(0, 1, (n, d))
    path = os.path.join(folder, f"{n}.npy")
    np.save(path, x)
    return x, x[:k], path


class Cluster:
    def __init__(self, home, folder):
        import socket
        self.home, self.folder, self.started = home, folder, []
        port = lambda: (lambda s: (s.bind(("127.0.0.1", 0)), s.getsockname()[1], s.close())[1])(socket.socket())
        p = port()
        self.url = f"spark://127.0.0.1:{p}"
        self.run("master", "elected leader", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", p, "--webui-port", port())
        for i in range(2):
            self.run(f"worker{i}", "Successfully registered", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", 1, "--memory", "4g", "--webui-port", port(), self.url)

    def run(self, name, word, cls, *args):
        path = os.path.join(self.folder, name + ".log")
        env = {**os.environ, "SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": os.path.join(self.folder, name)}
        self.started.append(subprocess.Popen([os.path.join(self.home, "bin", "spark-class"), cls, *map(str, args)], env=env, stdout=open(path, "wb"), stderr=subprocess.STDOUT, start_new_session=True))
        while word not in open(path, errors="replace").read():
            time.sleep(0.2)

    def end(self):
        for p in self.started:
            os.killpg(p.pid, 9)


CONF = {"spark.cores.max": "2", "spark.executor.cores": "1", "spark.executor.memory": "3g", "spark.ui.enabled": "false"}


def latent(a, cluster, path, start, *flags):
    """Seconds of the climb, and the result."""
    import numpy as np
    args = [a.latent, "fit", path, *flags, "--json", "--engine", "spark", "--master", cluster.url, "--spark-submit", os.path.join(cluster.home, "bin", "spark-submit")]
    if start is not None:
        np.savetxt(os.path.join(cluster.folder, "start.csv"), start, delimiter=",", header=",".join(f"c{i}" for i in range(start.shape[1])), comments="")
        args += ["--init", "centers:" + os.path.join(cluster.folder, "start.csv")]
    for k, v in CONF.items():
        args += ["--spark-conf", f"{k}={v}"]
    r = subprocess.run(args, capture_output=True, text=True, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"})
    if r.returncode not in (0, 3):
        sys.exit(f"latent: {r.stderr}")
    return json.loads(r.stdout)


def parquet(a, x, path):
    """The rows as Parquet, of which Spark reads parts side by side."""
    import numpy as np
    csv = path[:-4] + ".parquet"
    if not os.path.exists(csv):
        from pyarrow import parquet, table
        parquet.write_table(table({f"c{i}": x[:, i] for i in range(x.shape[1])}), csv, row_group_size=50_000)
    return csv


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--latent", required=True)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--only", help="one of " + "; ".join(SHAPES))
    p.add_argument("--json")
    a = p.parse_args()
    import pyspark
    home = os.environ.get("SPARK_HOME") or os.path.dirname(pyspark.__file__)
    folder = tempfile.mkdtemp(prefix="latent-bench-")
    cluster = Cluster(home, folder)
    try:
        from pyspark.sql import SparkSession
        from pyspark.ml.clustering import KMeans, GaussianMixture
        from pyspark.ml.feature import VectorAssembler
        out = {}
        for name, (n, d, k, (lo, hi), (low, high)) in SHAPES.items():
            if a.only and name != a.only:
                continue
            x, start, path = rows(name, folder)
            table = parquet(a, x, path)
            mine, theirs = [], []
            for _ in range(a.rounds):
                model = ["--model", "kmeans", "--algorithm", "lloyd"] if name == "kmeans" else ["--model", "gmm", "--covariance", "full", "--algorithm", "em", "--tol", "0"]
                fits = {it: latent(a, cluster, table, start, "-k", str(k), *model, "--max-iter", str(it)) for it in (lo, hi)}
                done = {it: r["iterations"] for it, r in fits.items()}
                mine.append((fits[hi]["timing"]["fit"] - fits[lo]["timing"]["fit"]) / (done[hi] - done[lo]))
                b = SparkSession.builder.master(cluster.url).appName("bench")
                for key, v in CONF.items():
                    b = b.config(key, v)
                s = b.config("spark.driver.memory", "3g").config("spark.ui.showConsoleProgress", "false").getOrCreate()
                s.sparkContext.setLogLevel("ERROR")
                df = VectorAssembler(inputCols=[f"c{i}" for i in range(d)], outputCol="features").transform(s.read.parquet(table)).select("features").cache()
                df.count()
                seconds = {}
                for it in (low, high, low, high):  # the first two warm its virtual machines
                    est = KMeans(k=k, maxIter=it, tol=0.0, seed=1, initMode="random") if name == "kmeans" else GaussianMixture(k=k, maxIter=it, tol=0.0, seed=1)
                    began = time.time()
                    done = est.fit(df).summary.numIter
                    seconds[it] = time.time() - began
                    if done != it:
                        sys.exit(f"Spark ML made {done} iterations where {it} were asked for: the work is not equal")
                theirs.append((seconds[high] - seconds[low]) / (high - low))
                began = time.time()
                m = (KMeans(k=k, seed=1) if name == "kmeans" else GaussianMixture(k=k, seed=1)).fit(df)
                default_theirs = time.time() - began, m.summary.trainingCost if name == "kmeans" else m.summary.logLikelihood
                s.stop()
                began = time.time()
                r = latent(a, cluster, table, None, "-k", str(k), *model[:2])
                default_mine = time.time() - began, r["inertia"] if name == "kmeans" else r["log_likelihood"]
            out[name] = {"latent_s_iteration": statistics.median(mine), "spark_ml_s_iteration": statistics.median(theirs), "ratio": statistics.median(theirs) / statistics.median(mine),
                         "latent_default": default_mine, "spark_ml_default": default_theirs}
            print(f"{name}: an iteration {out[name]['latent_s_iteration']:.3f} s, Spark ML {out[name]['spark_ml_s_iteration']:.3f} s, ratio {out[name]['ratio']:.1f}; "
                  f"with defaults {default_mine[0]:.1f} s to {default_mine[1]:.6g} (application started and rows read in it), Spark ML {default_theirs[0]:.1f} s to {default_theirs[1]:.6g}")
        if a.json:
            json.dump(out, open(a.json, "w"), indent=1)
    finally:
        cluster.end()


if __name__ == "__main__":
    main()
