package spark

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/transit"
)

// Statuses of an answer.
const (
	answered = 0
	failed   = 1 // the answer is what is wrong, in one line
	missing  = 2 // the part is not in memory: send its rows
)

// passJob is a pass, as it is sent to workers.
type passJob struct {
	Layout data.Layout
	Each   int64  // rows of a part, but for the last
	Job    []byte // of package sweep; empty asks for a check sum of the rows
}

// A Handler serves a job for a piece: see Pieces.
type Handler func(ctx context.Context, job []byte, from string, body []byte, threads int) ([]byte, error)

// Kinds of jobs for pieces, the first byte of each.
const (
	readPiece  = 0 // of package data
	applyPiece = 1 // of the Handler
)

// Command is the only argument with which Spark starts this program on an executor.
const Command = "spark-worker"

// WorkIfAsked returns at once, unless Spark has started this program on an executor: then it serves tasks, and the program ends with them. A program
// that calls Load has to call it first of all in main.
func WorkIfAsked() {
	if len(os.Args) != 2 || os.Args[1] != Command {
		return
	}
	if err := Work(os.Stdin, os.Stdout, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// threads returns how many cores a call may use.
func threads() int {
	if n, err := strconv.Atoi(os.Getenv("LATENT_SPARK_THREADS")); err == nil && n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// refusal says why this machine can take no part: nil where it has the kernels of the driver, which the environment names.
func refusal() error {
	if kern.Err() == nil {
		return nil
	}
	host, _ := os.Hostname()
	return fmt.Errorf("machine %s has no kernels above %s, so that its sums would differ in their last digits from those of %s; set %s=%s for the fit, so that all machines use the same",
		host, kern.Current(), os.Getenv(kern.Env), kern.Env, kern.Current())
}

// Work serves the tasks of an executor until there are no more: calls come in, answers go out. apply serves jobs of Pieces; nil where there are none.
func Work(in io.Reader, out io.Writer, apply Handler) error {
	w := &worker{in: bufio.NewReaderSize(in, 1<<16), threads: threads(), refusal: refusal(), apply: apply}
	o := bufio.NewWriterSize(out, 1<<16)
	for {
		op, err := w.in.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		status, answer, err := w.serve(op)
		if err != nil {
			return err
		}
		o.WriteByte(byte(status))
		if err := frame(o, answer); err != nil {
			return err
		}
		if err := o.Flush(); err != nil {
			return err
		}
	}
}

// worker holds parts of one table.
type worker struct {
	in      *bufio.Reader
	threads int
	refusal error
	apply   Handler
	table   string
	parts   map[int32]*sweep.Part
	sums    map[int32][sha256.Size]byte // of the rows of parts, as they came
}

// serve takes a call and returns its answer. An error is one of the connection.
func (w *worker) serve(op byte) (status int, answer []byte, err error) {
	switch op {
	case 'R':
		return w.piece()
	case 'P', 'B':
		return w.pass(op == 'B')
	}
	return 0, nil, fmt.Errorf("operation %d is not known", op)
}

// said is an answer of a call.
func (w *worker) said(answer []byte, err error) (int, []byte, error) {
	if w.refusal != nil {
		err = w.refusal
	}
	if err != nil {
		return failed, []byte(err.Error()), nil
	}
	return answered, answer, nil
}

// piece serves a job for a piece, which follows.
func (w *worker) piece() (int, []byte, error) {
	job, err := readFrame(w.in)
	if err != nil {
		return 0, nil, err
	}
	from, err := readFrame(w.in)
	if err != nil {
		return 0, nil, err
	}
	var body []byte
	for {
		b, err := readFrame(w.in)
		if err != nil {
			return 0, nil, err
		}
		if len(b) == 0 {
			break
		}
		body = append(body, b...)
	}
	if w.refusal != nil {
		return w.said(nil, nil)
	}
	switch {
	case len(job) > 0 && job[0] == readPiece:
		return w.said(data.ServePiece(context.Background(), job[1:], string(from), body, w.threads))
	case len(job) > 0 && job[0] == applyPiece && w.apply != nil:
		return w.said(w.apply(context.Background(), job[1:], string(from), body, w.threads))
	}
	return w.said(nil, errors.New("a job that this program does not know: driver and workers are not the same version"))
}

// pass makes a pass over a part, whose rows follow where given is set.
func (w *worker) pass(given bool) (int, []byte, error) {
	table, err := readFrame(w.in)
	if err != nil {
		return 0, nil, err
	}
	at, err := readInt(w.in)
	if err != nil {
		return 0, nil, err
	}
	sent, err := readFrame(w.in)
	if err != nil {
		return 0, nil, err
	}
	var rows []byte
	if given {
		if rows, err = readFrame(w.in); err != nil {
			return 0, nil, err
		}
	}
	if w.refusal != nil {
		return w.said(nil, nil)
	}
	var job passJob
	if err := transit.Decode(sent, &job); err != nil {
		return w.said(nil, err)
	}
	if w.table != string(table) {
		w.table, w.parts, w.sums = string(table), map[int32]*sweep.Part{}, map[int32][sha256.Size]byte{}
	}
	if given {
		t, err := job.Layout.Table(rows, int64(at)*job.Each)
		if err != nil {
			return w.said(nil, err)
		}
		w.parts[at], w.sums[at] = &sweep.Part{Table: t, Threads: w.threads}, sha256.Sum256(rows)
	}
	p := w.parts[at]
	if p == nil {
		return missing, nil, nil
	}
	if len(job.Job) == 0 {
		sum := w.sums[at]
		return w.said(sum[:], nil)
	}
	return w.said(p.Serve(context.Background(), job.Job))
}
