package spark

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

// application stands in for the Java program: it cuts a text in pieces and runs workers in this process.
type application struct {
	text    string
	cores   int
	in      *bufio.Reader
	out     *bufio.Writer
	workers []*connection
	pieces  []string
	from    []string
	made    []byte
	stride  int
	parts   [][]byte
	lost    int // calls until the first worker is lost; 0 for never
	passes  int
	during  func() // called in every pass, if there is one
}

// connection is a worker and the pipes to it.
type connection struct {
	in  *bufio.Writer
	out *bufio.Reader
	end func()
}

func work() *connection {
	down, to := io.Pipe()
	from, up := io.Pipe()
	go func() {
		up.CloseWithError(Work(down, up, nil))
	}()
	return &connection{bufio.NewWriter(to), bufio.NewReader(from), func() { to.Close() }}
}

func (c *connection) call(op byte, write func(w io.Writer)) (status byte, answer []byte) {
	c.in.WriteByte(op)
	write(c.in)
	c.in.Flush()
	status, err := c.out.ReadByte()
	if err != nil {
		panic(err)
	}
	if answer, err = readFrame(c.out); err != nil {
		panic(err)
	}
	return status, answer
}

// start returns an App that talks to it.
func (a *application) start(c Config) *App {
	down, to := io.Pipe()
	from, up := io.Pipe()
	a.in, a.out = bufio.NewReader(down), bufio.NewWriter(up)
	a.workers = []*connection{work(), work()}
	lines := strings.SplitAfter(a.text, "\n")
	const pieces = 5
	at := 0
	for i := range pieces {
		p := strings.Join(lines[i*len(lines)/pieces:(i+1)*len(lines)/pieces], "")
		a.pieces, a.from = append(a.pieces, p), append(a.from, fmt.Sprintf("%d\t%d\tfile:/t.csv", i, at))
		at += len(p)
	}
	go a.serve()
	return &App{config: c, Cores: a.cores, in: to, out: bufio.NewReader(from), log: new(tail), ended: make(chan struct{})}
}

func (a *application) serve() {
	for {
		op, err := a.in.ReadByte()
		if err != nil {
			return
		}
		n, _ := readInt(a.in)
		var args [][]byte
		for range n {
			b, _ := readFrame(a.in)
			args = append(args, b)
		}
		status, answers := a.answer(op, args)
		a.out.WriteByte(status)
		binary.Write(a.out, binary.BigEndian, int32(len(answers)))
		for _, b := range answers {
			frame(a.out, b)
		}
		a.out.Flush()
	}
}

func (a *application) answer(op byte, args [][]byte) (status byte, answers [][]byte) {
	number := func(i int) int { n, _ := strconv.Atoi(string(args[i])); return n }
	switch op {
	case 'O':
		return 0, [][]byte{[]byte(strconv.Itoa(len(a.pieces))), nil, []byte(a.text[:min(len(a.text), 4096)])}
	case 'M', 'B':
		from, to := 0, len(a.pieces)
		if op == 'M' {
			from, to = number(1), number(2)
		} else {
			a.made, a.stride = nil, number(1)
		}
		for i := from; i < to; i++ {
			status, b := a.workers[i%2].call('R', func(w io.Writer) {
				frame(w, args[0])
				frame(w, []byte(a.from[i]))
				for body := []byte(a.pieces[i]); len(body) > 0; {
					n := min(len(body), 1000)
					frame(w, body[:n])
					body = body[n:]
				}
				frame(w, nil)
			})
			if status != answered {
				return 1, [][]byte{b}
			}
			if op == 'B' {
				a.made = append(a.made, b...)
				b = []byte(strconv.Itoa(len(b) / a.stride))
			}
			answers = append(answers, b)
		}
	case 'A':
		each := number(0) * a.stride
		for lo := 0; lo < len(a.made); lo += each {
			a.parts = append(a.parts, a.made[lo:min(lo+each, len(a.made))])
		}
	case 'P':
		a.passes++
		if a.during != nil {
			a.during()
		}
		for i := range a.parts {
			if a.lost--; a.lost == 0 { // a machine is gone, and another takes its place
				a.workers[0].end()
				a.workers[0] = work()
			}
			b := []byte(nil)
			for op, status := byte('P'), byte(missing); status == missing; op = 'B' {
				status, b = a.workers[i%2].call(op, func(w io.Writer) {
					frame(w, []byte("0"))
					binary.Write(w, binary.BigEndian, int32(i))
					frame(w, args[0])
					if op == 'B' {
						frame(w, a.parts[i])
					}
				})
				if status == failed {
					return 1, [][]byte{b}
				}
			}
			answers = append(answers, b)
		}
	case 'F':
		return 0, [][]byte{a.parts[number(0)]}
	}
	return 0, answers
}

// text writes rows of three groups of two kinds of columns, with a gap here and there.
func text(n int) string {
	r := rand.New(rand.NewPCG(5, 7))
	var b strings.Builder
	b.WriteString("x,y,colour\n")
	for i := range n {
		g := float64(i % 3)
		y := fmt.Sprintf("%.3f", r.NormFloat64()-g)
		if r.IntN(30) == 0 {
			y = ""
		}
		fmt.Fprintf(&b, "%.3f,%s,%s\n", r.NormFloat64()+3*g, y, []string{"red", "green", "blue"}[(i+r.IntN(2))%3])
	}
	return b.String()
}

// fitted is the model of a fit, as its file holds it.
func fitted(t *testing.T, src data.Source, info *data.Info) string {
	t.Helper()
	r, err := latent.Fit(context.Background(), src, latent.Spec{Model: "mixed", K: 3, NInit: 2, Missing: "model", Columns: info.Features, Types: info.Types, Levels: info.Levels})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFitIsThatOfOneMachine(t *testing.T) {
	n := 60_000
	if testing.Short() { // the race detector takes ten times as long
		n = 25_000
	}
	table := text(n)
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	o := data.Options{Mixed: true, Missing: "model"}
	src, info, err := data.Load(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	want := fitted(t, src, info)
	folder := filepath.Join(t.TempDir(), "kept")
	for _, c := range []struct {
		name   string
		config Config
		lost   int
	}{
		{"plain", Config{}, 0},
		{"many parts", Config{Parts: 9}, 0},
		{"a worker is lost", Config{}, 20},
		{"kept", Config{Checkpoint: folder}, 0},
		{"resumed", Config{Checkpoint: folder, Resume: true}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &application{text: table, cores: 2, lost: c.lost}
			rows, info, err := a.start(c.config).Load(context.Background(), Input{Paths: []string{"/t.csv"}}, o)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			if got, d := rows.Shape(); int(got) != n || d != 3 || rows.parts < 2 {
				t.Fatalf("%d rows of %d columns in %d parts", got, d, rows.parts)
			}
			if got := fitted(t, rows, info); got != want {
				t.Errorf("the model is not that of one machine:\n%s\n%s", got, want)
			}
			if few := a.passes <= 2; few != c.config.Resume { // that of the check sum, and that of the sample, whose rows are named in any order
				t.Errorf("%d passes were made", a.passes)
			}
		})
	}
}

// After Ctrl-C the rows are read once more, for the result that there is.
func TestInterruptedPassLeavesTheApplication(t *testing.T) {
	a := &application{text: text(3000), cores: 2}
	rows, _, err := a.start(Config{}).Load(context.Background(), Input{Paths: []string{"/t.csv"}}, data.Options{Mixed: true, Missing: "model"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := rows.sum(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	returned, before := make(chan struct{}), a.passes
	a.during = func() {
		cancel()
		<-returned
	}
	if _, err := rows.sum(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of an interrupted pass", err)
	}
	close(returned)
	if got, err := rows.sum(context.Background()); err != nil || got != want {
		t.Errorf("%q and error %v after an interrupted pass, want %q", got, err, want)
	}
	if a.passes != before+2 {
		t.Errorf("%d passes, want 2", a.passes-before)
	}
}

func TestErrorsOfRowsComeOnce(t *testing.T) {
	lines := strings.SplitAfter(text(1000), "\n")
	lines[700] = "oops,1,red\n"
	a := &application{text: strings.Join(lines, ""), cores: 2}
	_, _, err := a.start(Config{}).Load(context.Background(), Input{Paths: []string{"/t.csv"}}, data.Options{Mixed: true, Missing: "model"})
	if err == nil || !strings.Contains(err.Error(), `/t.csv:701: column "x": "oops" is not a number`) {
		t.Errorf("error %v", err)
	}
}

func TestCutAlignsParts(t *testing.T) {
	for _, n := range []int64{1, 1000, 60_000, 1_000_000, 123_456_789} {
		for _, asked := range []int{0, 1, 13, 1000} {
			each, parts := cut(n, 64, asked, 4)
			if rows := each * int64(parts); rows < n || rows-each >= n {
				t.Errorf("%d rows, %d asked: %d parts of %d", n, asked, parts, each)
			}
			if each*64 > 1<<30+1<<25 {
				t.Errorf("%d rows, %d asked: a part of %d rows is too large", n, asked, each)
			}
			if asked > 0 && parts > max(asked, int(n*64>>30)+1) {
				t.Errorf("%d rows: %d parts where %d were asked for", n, parts, asked)
			}
		}
	}
}

func TestCheckpointForgetsWhatWasCutShort(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "c")
	calls := 0
	pass := func(c *checkpoint, job string) string {
		a, err := c.pass(context.Background(), []byte(job), func(context.Context) ([][]byte, error) {
			calls++
			return [][]byte{[]byte("sums of " + job), nil}, nil
		})
		if err != nil || len(a) != 2 {
			t.Fatalf("%q, %v", a, err)
		}
		return string(a[0])
	}
	c, err := openCheckpoint(folder, begun{Rows: "a fit"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range []string{"one", "two", "three"} {
		pass(c, job)
	}
	c.close()
	path := filepath.Join(folder, checkpointName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file can be read by others: %v", info.Mode())
	}
	for cut := range 40 { // the last pass was not written whole
		if err := os.WriteFile(path, whole[:len(whole)-1-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := openCheckpoint(folder, begun{Rows: "a fit"}, true)
		if err != nil {
			t.Fatal(err)
		}
		calls = 0
		for _, job := range []string{"one", "two", "three"} {
			if got := pass(c, job); got != "sums of "+job {
				t.Errorf("%q", got)
			}
		}
		if calls != 1 {
			t.Errorf("%d passes were made again", calls)
		}
		c.close()
		if again, _ := os.ReadFile(path); !bytes.Equal(again, whole) {
			t.Errorf("the file is not what it was")
		}
	}
	if _, err := openCheckpoint(folder, begun{Rows: "another fit"}, true); err == nil {
		t.Error("another fit was taken for this one")
	}
	if _, err := openCheckpoint(folder, begun{Rows: "a fit", Sum: "of other rows"}, true); err == nil || !strings.Contains(err.Error(), "the rows have changed") {
		t.Errorf("other rows: %v", err)
	}
}
