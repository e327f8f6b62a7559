#!/usr/bin/env python3
"""How many instructions the kernels take on arm64, in portable Go and with NEON: a count in emulation, which is not a time.

    python3 bench/arm64.py [--iterations 20]

Needs Go and qemu-aarch64 (Debian's qemu-user). The benchmarks of internal/kern run in qemu-user, one instruction to a block, which logs every block of the kernels
and of package math; what the runtime does is left out. Instructions of an iteration = (those of HI iterations - those of one) / (HI - 1), so that
preparation cancels. An iteration is a panel of 32 rows; what a row takes is that by 32, and a pair of a row and a centre (component) by 32 k."""
import argparse, os, re, subprocess, sys, tempfile

ROWS = 32
# what: k, benchmark with LEVEL for the level, level of the vectors, benchmark of what portable Go does where that is another
KERNELS = {
    "nearest in float32, d 16, k 24": (24, "Nearest/dense/d=16,k=24/LEVEL", "neon", ""),
    "nearest in float32, d 64, k 192": (192, "Nearest/dense/d=64,k=192/LEVEL", "neon", ""),
    "nearest in bytes, d 64, k 192": (192, "Nearest/integers/d=64,k=192/LEVEL", "neon+dotprod", "Nearest/dense/d=64,k=192/go"),
    "exact distances, float64, d 16, k 24": (24, "Nearest/exact/d=16,k=24/LEVEL", "neon", ""),
    "L1 distances, d 16, k 24": (24, "Nearest/l1/d=16,k=24/LEVEL", "neon", ""),
    "full scores, d 16, k 16": (16, "Mixture/whitened/d=16,k=16/LEVEL", "neon", "Mixture/whiten/d=16,k=16/go"),
    "diagonal scores, d 16, k 16": (16, "Mixture/ellipses/d=16,k=16/LEVEL", "neon", ""),
    "diagonal scores with gaps, d 16, k 16": (16, "Mixture/masked/d=16,k=16/LEVEL", "neon", ""),
    "responsibilities, k 16": (16, "Mixture/soften/d=16,k=16/LEVEL", "neon", ""),
    "log-sum-exp, k 16": (16, "Mixture/logsumexp/d=16,k=16/LEVEL", "neon", ""),
    "full moments, d 16, k 16": (16, "Mixture/accumulate/d=16,k=16/LEVEL", "neon", ""),
    "full scores of rows of one pattern of gaps, d 16, k 8": (8, "Lanes/norms/d=16,k=8,n=32/LEVEL", "neon", ""),
    "full moments of such rows, d 16, k 8": (8, "Lanes/moments/d=16,k=8,n=32/LEVEL", "neon", ""),
    "scores of bits, d 64, k 32": (32, "Bits/LEVEL/d=64,k=32/score", "neon", ""),
    "moments of bits, d 64, k 32": (32, "Bits/LEVEL/d=64,k=32/moments", "neon", ""),
}


def ranges(binary):
    """Where the code of the kernels and of package math is, as qemu's -dfilter takes it."""
    out, symbols = [], subprocess.run(["go", "tool", "nm", "-n", "-size", binary], capture_output=True, text=True, check=True).stdout
    for line in symbols.splitlines():
        f = line.split(None, 3)
        if len(f) == 4 and f[2] in "tT" and re.match(r"(math\.|github.com/latent-go/latent/internal/kern\.)", f[3]):
            at, size = int(f[0], 16), int(f[1])
            if out and out[-1][1] >= at - 64:  # padding between functions is never run
                out[-1][1] = at + size
            else:
                out.append([at, at + size])
    return ",".join(f"{lo:#x}..{hi - 1:#x}" for lo, hi in out)


def count(binary, code, bench, iterations):
    pattern = "^Benchmark" + "/".join("^" + re.escape(part) + "$" for part in bench.split("/")).removeprefix("^")
    single = "-one-insn-per-tb" if "-one-insn-per-tb" in subprocess.run(["qemu-aarch64", "-h"], capture_output=True, text=True).stdout else "-singlestep"
    with tempfile.TemporaryFile("w+") as out:
        run = subprocess.Popen(["qemu-aarch64", "-cpu", "max", single, "-d", "exec,nochain", "-dfilter", code, binary,
                                "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", f"{iterations}x"], stdout=out, stderr=subprocess.PIPE, text=True)
        n = sum(line.startswith("Trace") for line in run.stderr)
        out.seek(0)
        if run.wait() or f"\t{iterations}\t" not in out.read().replace(" ", ""):
            sys.exit(f"{bench} did not run")
    return n


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--iterations", type=int, default=20)
    p.add_argument("--only", default="", help="kernels whose names have this in them")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "kern.test")
        subprocess.run(["go", "test", "-vet=off", "-c", "-o", binary, "./internal/kern"], check=True, cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))), env={**os.environ, "GOARCH": "arm64", "CGO_ENABLED": "0"})
        code = ranges(binary)
        print("| kernel | Go, a row | NEON, a row | Go, a pair | NEON, a pair | ratio |\n|---|---|---|---|---|---|")
        for what, (k, bench, level, other) in KERNELS.items():
            if a.only not in what:
                continue
            each = []
            for name in (other or bench.replace("LEVEL", "go"), bench.replace("LEVEL", level)):
                each.append((count(binary, code, name, a.iterations) - count(binary, code, name, 1)) / (a.iterations - 1) / ROWS)
            plain, neon = each
            print(f"| {what} | {plain:,.0f} | {neon:,.0f} | {plain / k:.1f} | {neon / k:.1f} | {plain / neon:.1f} |", flush=True)


main()
