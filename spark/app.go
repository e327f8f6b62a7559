package spark

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/latent-go/latent/internal/kern"
)

// Config says how to reach Spark and how to use it.
type Config struct {
	Master  string   // spark://HOST:PORT, yarn, k8s://URL or local[N]; empty leaves it to Spark's own settings
	Submit  string   // the program spark-submit; empty: in $SPARK_HOME/bin, then in the search path
	Conf    []string // further settings, KEY=VALUE
	Parts   int      // parts of the table; 0 leaves it to the number of cores and the size
	Storage string   // where Spark keeps the numbers, such as DISK_ONLY, which is the default
	Worker  string   // the program that runs on executors; empty: the one that is running

	Checkpoint string // the folder where a fit keeps what its passes came to; empty for none
	Resume     bool   // go on with the fit in that folder
}

// App is a Spark application. It serves one request at a time.
type App struct {
	Version string // of Spark
	Cores   int    // that tasks may use at once

	config  Config
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	log     *tail
	folder  string
	ended   chan struct{} // closed when the process has ended
	holds   *table        // that was loaded last

	mu   sync.Mutex
	late <-chan reply // the answer that nobody waited for, if there is one
	once sync.Once
}

// reply is an answer of the application.
type reply struct {
	status byte
	parts  [][]byte
	err    error
}

// Start starts an application and waits until it is there. The caller must Close it.
func Start(ctx context.Context, c Config) (*App, error) {
	submit, err := c.submit()
	if err != nil {
		return nil, err
	}
	if err := c.reachable(ctx); err != nil {
		return nil, err
	}
	if c.Storage == "" {
		c.Storage = "DISK_ONLY"
	}
	worker := c.Worker
	if worker == "" {
		if worker, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	folder, err := os.MkdirTemp("", "latent-spark-")
	if err != nil {
		return nil, err
	}
	a := &App{config: c, folder: folder, log: new(tail), ended: make(chan struct{})}
	jar := filepath.Join(folder, "latent.jar")
	if err := writeJar(jar); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	args := []string{"--class", "latent.Application", "--conf", "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false",
		"--conf", "spark.driver.defaultJavaOptions=" + javaOptions, "--conf", "spark.executor.defaultJavaOptions=" + javaOptions}
	if c.Master != "" {
		args = append(args, "--master", c.Master)
	}
	for _, kv := range c.Conf {
		args = append(args, "--conf", kv)
	}
	args = append(args, jar, worker, kern.Env+"="+kern.Current().String())
	a.process = exec.Command(submit, args...)
	ownGroup(a.process)
	a.process.Stderr = a.log
	if a.in, err = a.process.StdinPipe(); err == nil {
		var out io.ReadCloser
		if out, err = a.process.StdoutPipe(); err == nil {
			a.out = bufio.NewReaderSize(out, 1<<16)
			err = a.process.Start()
		}
	}
	if err != nil {
		os.RemoveAll(folder)
		return nil, fmt.Errorf("%s cannot be started: %w", submit, err)
	}
	go func() {
		a.process.Wait()
		close(a.ended)
	}()
	hello, err := a.answer(ctx)
	if err != nil {
		a.Close()
		return nil, err
	}
	a.Version = string(hello[0])
	a.Cores, _ = strconv.Atoi(string(hello[1]))
	return a, nil
}

// javaOptions are for virtual machines that place tasks and copy bytes: with compilers and collectors that use other cores than their own a pass
// takes up to twice as long until they are warm, after a few hundred passes. spark.executor.extraJavaOptions and its like overrule them.
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

// submit finds the program spark-submit.
func (c *Config) submit() (string, error) {
	if c.Submit != "" {
		if _, err := exec.LookPath(c.Submit); err != nil {
			return "", fmt.Errorf("--spark-submit %s: there is no such program", c.Submit)
		}
		return c.Submit, nil
	}
	if home := os.Getenv("SPARK_HOME"); home != "" {
		at := filepath.Join(home, "bin", "spark-submit")
		if _, err := exec.LookPath(at); err == nil {
			return at, nil
		}
	}
	at, err := exec.LookPath("spark-submit")
	if err != nil {
		return "", errors.New("there is no spark-submit, neither in $SPARK_HOME/bin nor in the search path; give its place with --spark-submit")
	}
	return at, nil
}

// reachable looks whether anything answers at the address of a standalone master: Spark would try for a minute and say nothing of use.
func (c *Config) reachable(ctx context.Context) error {
	hosts, ok := strings.CutPrefix(c.Master, "spark://")
	if !ok {
		return nil
	}
	var last error
	for host := range strings.SplitSeq(hosts, ",") {
		conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", host)
		if err == nil {
			return conn.Close()
		}
		last = err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("--master %s: no Spark master can be reached there: %w", c.Master, last)
}

//go:generate ./compile

//go:embed classes
var classes embed.FS

// writeJar writes the classes of the application, compiled from the folder java.
func writeJar(path string) error {
	compiled, err := fs.Sub(classes, "classes")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := z.AddFS(compiled); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// call sends a request and waits for its answer. Where ctx ends first, the application works on, and the next call waits for that: an interrupted
// climb leaves a result whose rows are read once more.
func (a *App) call(ctx context.Context, op byte, args ...[]byte) ([][]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.late != nil {
		if _, err := a.wait(ctx, a.late); ctx.Err() != nil {
			return nil, err
		}
	}
	w := bufio.NewWriterSize(a.in, 1<<16)
	w.WriteByte(op)
	var n [4]byte
	n[3] = byte(len(args))
	w.Write(n[:])
	for _, b := range args {
		if err := frame(w, b); err != nil {
			return nil, a.gone(err)
		}
	}
	if err := w.Flush(); err != nil {
		return nil, a.gone(err)
	}
	return a.answer(ctx)
}

// answer reads an answer.
func (a *App) answer(ctx context.Context) ([][]byte, error) {
	done := make(chan reply, 1)
	go func() { done <- readReply(a.out) }()
	return a.wait(ctx, done)
}

// wait waits for an answer, and keeps it in a.late where ctx ends first.
func (a *App) wait(ctx context.Context, done <-chan reply) ([][]byte, error) {
	select {
	case <-ctx.Done():
		a.late = done
		return nil, ctx.Err()
	case r := <-done:
		a.late = nil
		switch {
		case r.err != nil:
			return nil, a.gone(r.err)
		case r.status != answered:
			return nil, errors.New(oneLine(string(bytes.Join(r.parts, nil))))
		}
		return r.parts, nil
	}
}

func readReply(in *bufio.Reader) (r reply) {
	if r.status, r.err = in.ReadByte(); r.err != nil {
		return r
	}
	n, err := readInt(in)
	for r.err = err; n > 0 && r.err == nil; n-- {
		var b []byte
		b, r.err = readFrame(in)
		r.parts = append(r.parts, b)
	}
	return r
}

// gone says why the application is not there any more.
func (a *App) gone(err error) error {
	select {
	case <-a.ended:
	case <-time.After(2 * time.Second):
	}
	if said := a.log.error(); said != "" {
		return fmt.Errorf("the Spark application ended: %s", said)
	}
	return fmt.Errorf("the Spark application ended: %w", err)
}

// Close ends the application and all its processes on this machine, and waits for that.
func (a *App) Close() error {
	a.once.Do(func() {
		a.in.Close() // its workers end with it
		select {
		case <-a.ended:
		case <-time.After(15 * time.Second):
		}
		killGroup(a.process)
		<-a.ended
		os.RemoveAll(a.folder)
	})
	return nil
}

// tail keeps the end of what a process says.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b = append(t.b, p...); len(t.b) > tailBytes {
		t.b = append(t.b[:0], t.b[len(t.b)-tailBytes:]...)
	}
	return len(p), nil
}

// error returns the last line that speaks of an error.
func (t *tail) error() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := ""
	for line := range strings.Lines(string(t.b)) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "Exception") || strings.Contains(line, "Error:") {
			said = line
		}
	}
	return oneLine(said)
}

// oneLine returns the first line of a text that says something.
func oneLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
