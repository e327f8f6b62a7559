//go:build spark

// Tests on a Spark cluster of one master and two workers on this machine: go test -tags spark ./cmd/latent -run Spark. They need Java 17 or later and, in
// SPARK_HOME, a Spark: without them they fail.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cluster is a standalone cluster and the command.
type cluster struct {
	home, url, command, folder string
	workers                    []*exec.Cmd
}

// newCluster starts one; it ends with the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	home := os.Getenv("SPARK_HOME")
	if home == "" {
		t.Fatal("SPARK_HOME must name the folder of a Spark, such as that of the Python package pyspark")
	}
	c := &cluster{home: home, folder: t.TempDir()}
	c.command = filepath.Join(c.folder, "latent")
	if out, err := exec.Command("go", "build", "-o", c.command, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	port := freePort(t)
	c.url = "spark://127.0.0.1:" + port
	c.start(t, "master", "I have been elected leader", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", freePort(t))
	for range 2 {
		c.workers = append(c.workers, c.worker(t))
	}
	return c
}

func (c *cluster) worker(t *testing.T) *exec.Cmd {
	return c.start(t, fmt.Sprint("worker", len(c.workers), time.Now().UnixNano()), "Successfully registered", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", freePort(t), c.url)
}

// start runs a class of Spark and waits until it says that it is there.
func (c *cluster) start(t *testing.T, name, said, class string, args ...string) *exec.Cmd {
	t.Helper()
	log, err := os.Create(filepath.Join(c.folder, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(c.home, "bin", "spark-class"), append([]string{class}, args...)...)
	cmd.Env = append(os.Environ(), "SPARK_NO_DAEMONIZE=1", "SPARK_LOCAL_IP=127.0.0.1", "SPARK_WORKER_DIR="+filepath.Join(c.folder, name))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		log.Close()
	})
	for range 600 {
		text, _ := os.ReadFile(log.Name())
		if strings.Contains(string(text), said) {
			return cmd
		}
		time.Sleep(200 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not start:\n%s", name, text)
	return nil
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// on are the flags of a command that runs there.
func (c *cluster) on(args ...string) []string {
	return append(args, "--engine", "spark", "--master", c.url, "--spark-submit", filepath.Join(c.home, "bin", "spark-submit"),
		"--spark-conf", "spark.cores.max=2", "--spark-conf", "spark.executor.cores=1", "--spark-conf", "spark.executor.memory=512m")
}

// run runs the command in the folder and returns its exit status and what it says.
func (c *cluster) run(t *testing.T, args ...string) (status int, out, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command, args...)
	cmd.Dir, cmd.Env = c.folder, append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1")
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// model returns a model file without the name of the data.
func (c *cluster) model(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	delete(m["provenance"].(map[string]any), "data")
	b, _ = json.Marshal(m)
	return string(b)
}

// same fits on this machine and on the cluster, and compares the models. during is called while the latter is under way.
func (c *cluster) same(t *testing.T, local, there []string, args []string, during func()) {
	t.Helper()
	status, _, said := c.run(t, slices.Concat([]string{"fit", "-q", "-o", "local.json"}, local, args)...)
	if status != 0 && status != 3 {
		t.Fatalf("on this machine: exit status %d: %s", status, said)
	}
	if during != nil {
		go during()
	}
	got, _, said := c.run(t, c.on(slices.Concat([]string{"fit", "-q", "-o", "spark.json"}, there, args)...)...)
	if got != status {
		t.Fatalf("on the cluster: exit status %d: %s", got, said)
	}
	if a, b := c.model(t, "local.json"), c.model(t, "spark.json"); a != b {
		t.Errorf("models differ:\n%.600s\n%.600s", a, b)
	}
}

// tables writes the same rows as one file and as several.
func (c *cluster) tables(t *testing.T) {
	t.Helper()
	model := `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["a","b","c"], "weights": [0.5, 0.3, 0.2],
		"means": [[0,0,0],[3,1,0],[0,-3,2]], "covariances": [1, 0.5, 1.5]}`
	if err := os.WriteFile(filepath.Join(c.folder, "gen.json"), []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.parquet", "t.csv"} {
		if status, _, said := c.run(t, "sample", "gen.json", "-n", "120000", "--seed", "4", "-o", name); status != 0 {
			t.Fatal(said)
		}
	}
	whole, err := os.ReadFile(filepath.Join(c.folder, "t.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	if err := os.Mkdir(filepath.Join(c.folder, "parts"), 0o700); err != nil {
		t.Fatal(err)
	}
	head, rows := lines[0], lines[1:]
	for i := range 5 {
		part := head + strings.Join(rows[i*len(rows)/5:(i+1)*len(rows)/5], "")
		if err := os.WriteFile(filepath.Join(c.folder, "parts", fmt.Sprint(i, ".csv")), []byte(part), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Words, counts and gaps: every tenth cell of the last column is empty.
	var mixed strings.Builder
	mixed.WriteString("a,b,kind,c\n")
	for i, line := range rows[:60_000] {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) < 3 {
			continue
		}
		if i%10 == 3 {
			f[2] = ""
		}
		kind := "low"
		if v, _ := strconv.ParseFloat(f[0], 64); v > 1 {
			kind = "high"
		}
		fmt.Fprintf(&mixed, "%s,%s,%s,%s\n", f[0], f[1], kind, f[2])
	}
	if err := os.WriteFile(filepath.Join(c.folder, "mixed.csv"), []byte(mixed.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// kill kills the first process below a worker that pick takes.
func (c *cluster) kill(pick func(command string) bool) {
	for range 600 {
		for _, pid := range below(c.workers) {
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && pick(strings.ReplaceAll(string(b), "\x00", " ")) {
				time.Sleep(3 * time.Second) // so that a pass is under way
				syscall.Kill(pid, syscall.SIGKILL)
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// below returns the processes that others have started.
func below(roots []*exec.Cmd) (pids []int) {
	parents := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if stat, err := os.ReadFile("/proc/" + e.Name() + "/stat"); err == nil {
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if slices.ContainsFunc(roots, func(c *exec.Cmd) bool { return c.Process.Pid == at }) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

func TestSparkCluster(t *testing.T) {
	c := newCluster(t)
	c.tables(t)
	path := func(name string) string { return filepath.Join(c.folder, name) }
	for _, f := range []struct {
		name         string
		local, there []string
		args         []string
	}{
		{"full", []string{"t.parquet"}, []string{path("t.parquet")}, []string{"-k", "3", "--n-init", "1"}},
		{"k-means of many files", []string{"t.csv"}, []string{path("parts/*.csv")}, []string{"-k", "3", "--model", "kmeans", "--n-init", "1"}},
		{"columns of several types with gaps", []string{"mixed.csv"}, []string{path("mixed.csv"), "--partitions", "2"}, []string{"-k", "2", "--n-init", "1"}},
		{"bits", []string{"t.csv"}, []string{path("t.csv")}, []string{"-k", "2", "--model", "bernoulli", "--binarize", "0.5", "--n-init", "1"}},
		{"a query", []string{"t.csv", "--columns", "a,b"}, []string{"--query", "SELECT a, b FROM parquet.`" + path("t.parquet") + "`"}, []string{"-k", "2", "--n-init", "1", "--covariance", "diag"}},
	} {
		t.Run(f.name, func(t *testing.T) { c.same(t, f.local, f.there, f.args, nil) })
	}
	t.Run("losses", func(t *testing.T) { losses(t, c, path("t.parquet")) })
	t.Run("labels", func(t *testing.T) { sparkLabels(t, c) })
	t.Run("errors", func(t *testing.T) { sparkErrors(t, c) })
	t.Run("interrupted and resumed", func(t *testing.T) { resumed(t, c, path("t.parquet")) })
}

func losses(t *testing.T, c *cluster, table string) {
	args := []string{"-k", "4", "--n-init", "3", "--seed", "5"}
	for name, pick := range map[string]func(string) bool{
		"the program": func(s string) bool { return strings.HasSuffix(strings.TrimSpace(s), "spark-worker") },
		"an executor": func(s string) bool { return strings.Contains(s, "CoarseGrainedExecutorBackend") },
	} {
		t.Run(name, func(t *testing.T) {
			c.same(t, []string{"t.parquet"}, []string{table}, args, func() { c.kill(pick) })
		})
	}
	t.Run("a machine", func(t *testing.T) {
		c.same(t, []string{"t.parquet"}, []string{table}, args, func() {
			c.kill(func(s string) bool { return strings.Contains(s, "CoarseGrainedExecutorBackend") })
			syscall.Kill(-c.workers[1].Process.Pid, syscall.SIGKILL)
		})
	})
	c.workers[1] = c.worker(t)
}

func sparkLabels(t *testing.T, c *cluster) {
	if status, _, said := c.run(t, "fit", "t.csv", "-k", "3", "-q", "-o", "m.json"); status != 0 {
		t.Fatal(said)
	}
	if status, _, said := c.run(t, c.on("label", "m.json", filepath.Join(c.folder, "parts"), "-o", filepath.Join(c.folder, "labels.csv"))...); status != 0 {
		t.Fatal(said)
	}
	if _, err := os.Stat(filepath.Join(c.folder, "labels.csv", "_SUCCESS")); err != nil {
		t.Error(err)
	}
	status, want, said := c.run(t, "label", "m.json", "t.csv")
	if status != 0 {
		t.Fatal(said)
	}
	names, _ := filepath.Glob(filepath.Join(c.folder, "labels.csv", "part-*.csv"))
	slices.Sort(names)
	var got [][]string
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 {
			got = append(got, rows[1:]...)
		}
	}
	rows, _ := csv.NewReader(strings.NewReader(want)).ReadAll()
	if len(got) != len(rows)-1 {
		t.Fatalf("%d labels of %d rows", len(got), len(rows)-1)
	}
	for i, row := range rows[1:] {
		if row[0] != got[i][0] || row[1] != got[i][1] {
			t.Fatalf("row %d: %v became %v", i+1, row, got[i])
		}
	}
	_, one, _ := c.run(t, "score", "m.json", "t.csv", "--json")
	_, other, said := c.run(t, c.on("score", "m.json", filepath.Join(c.folder, "t.parquet"), "--json")...)
	var a, b struct {
		Rows int64
		Mean float64
	}
	if json.Unmarshal([]byte(one), &a) != nil || json.Unmarshal([]byte(other), &b) != nil || a.Rows != b.Rows || !(abs(a.Mean-b.Mean) < 1e-9) {
		t.Errorf("scores %s became %s %s", one, other, said)
	}
}

func abs(x float64) float64 { return max(x, -x) }

func sparkErrors(t *testing.T, c *cluster) {
	part, err := os.ReadFile(filepath.Join(c.folder, "parts", "3.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(part), "\n")
	lines[100] = "oops," + strings.SplitN(lines[100], ",", 2)[1]
	if err := os.MkdirAll(filepath.Join(c.folder, "bad"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.folder, "bad", "0.csv"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lake/_delta_log", "mixed"} {
		if err := os.MkdirAll(filepath.Join(c.folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"mixed/1.csv": "a,b,c\n1,2,3\n", "mixed/2.csv": "a,c,b\n1,2,3\n"} {
		if err := os.WriteFile(filepath.Join(c.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []struct {
		args []string
		says string
	}{
		{c.on("fit", filepath.Join(c.folder, "lake"), "-k", "3", "-o", "bad.json"), "read it as a table, by --table or --query"},
		{c.on("fit", filepath.Join(c.folder, "mixed"), "-k", "1", "-o", "bad.json"), "mixed/2.csv:1: its columns are not those of the first file"},
		{c.on("fit", filepath.Join(c.folder, "bad"), "-k", "3", "-o", "bad.json"), `bad/0.csv:101: column "a": "oops" is not a number`},
		{c.on("fit", filepath.Join(c.folder, "nowhere/*.csv"), "-k", "3", "-o", "bad.json"), "there is no such file"},
		{append(c.on("fit", filepath.Join(c.folder, "t.csv"), "-k", "3"), "--master", "spark://127.0.0.1:1"), "no Spark master can be reached"},
		{c.on("label", "m.json", filepath.Join(c.folder, "bad"), "-o", filepath.Join(c.folder, "badlabels")), `"oops" is not a number`},
	} {
		status, _, said := c.run(t, f.args...)
		if status == 0 || !strings.Contains(said, f.says) || strings.Count(strings.TrimSpace(said), "\n") > 0 {
			t.Errorf("%v: exit status %d: %s", f.args[:2], status, said)
		}
	}
	for _, name := range []string{"bad.json", "badlabels"} {
		if _, err := os.Stat(filepath.Join(c.folder, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// resumed kills a fit with all its processes, which leaves none behind, and goes on with it.
func resumed(t *testing.T, c *cluster, table string) {
	args := []string{"-k", "4", "--n-init", "2", "--max-iter", "80", "--seed", "8", "-q"}
	want, _, said := c.run(t, slices.Concat([]string{"fit", "t.parquet", "-o", "whole.json"}, args)...)
	if want != 0 && want != exitUnfinished {
		t.Fatal(said)
	}
	kept := filepath.Join(c.folder, "kept")
	there := c.on(slices.Concat([]string{"fit", table, "-o", "resumed.json", "--checkpoint", kept}, args)...)
	cmd := exec.Command(c.command, there...)
	cmd.Dir = c.folder
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if info, err := os.Stat(filepath.Join(kept, "passes")); err == nil && info.Size() > 50_000 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit status %d after an interrupt", code)
	}
	for range 100 {
		if left := slices.DeleteFunc(below(c.workers), func(pid int) bool {
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return !bytes.Contains(b, []byte("spark-worker")) && !bytes.Contains(b, []byte("CoarseGrained"))
		}); len(left) == 0 {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if status, _, said := c.run(t, there...); status != exitError || !strings.Contains(said, "use --resume") {
		t.Errorf("exit status %d: %s", status, said)
	}
	if status, _, said := c.run(t, append(there, "--resume")...); status != want {
		t.Fatalf("exit status %d: %s", status, said)
	}
	if a, b := c.model(t, "whole.json"), c.model(t, "resumed.json"); a != b {
		t.Errorf("models differ:\n%.600s\n%.600s", a, b)
	}
}
