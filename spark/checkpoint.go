package spark

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// A checkpoint keeps what every pass came to, in a file that grows. A fit depends on its passes alone, so one that starts again goes the same way: each
// pass that is in the file is not made again, and the end is the same to the last bit. A pass that is not found, whatever the reason, is made.
type checkpoint struct {
	mu    sync.Mutex
	f     *os.File
	known map[[sha256.Size]byte][][]byte
	new   int // passes since the file was last brought to the disk
}

// checkpointName is the file in the folder of --checkpoint.
const checkpointName = "passes"

// checkpointMagic begins it.
const checkpointMagic = "latent passes 1\n"

// syncEvery is how many passes a machine that loses its power may lose.
const syncEvery = 4

// checkCheckpoint refuses a folder that cannot be begun, or gone on, with.
func (c *Config) checkCheckpoint() error {
	if c.Checkpoint == "" {
		return nil
	}
	_, err := os.Stat(filepath.Join(c.Checkpoint, checkpointName))
	switch {
	case err == nil && !c.Resume:
		return fmt.Errorf("--checkpoint %s: it holds a fit that was begun; use --resume to go on with it, or another folder", c.Checkpoint)
	case errors.Is(err, os.ErrNotExist) && c.Resume:
		return fmt.Errorf("--checkpoint %s: there is nothing to resume in it", c.Checkpoint)
	}
	return nil
}

// begun is what a checkpoint begins with: what is fitted, and how its rows are divided, which decides what a pass comes to.
type begun struct {
	Rows  string // what they are called, and how many there are of how many columns
	Each  int64
	Parts int
	Sum   string // of their bytes
}

// divided returns how rows were divided in a fit that is gone on with. What is not there, or cannot be read, is said by openCheckpoint.
func divided(folder string) (each int64, parts int) {
	f, err := os.Open(filepath.Join(folder, checkpointName))
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	was, err := readBegun(f, folder)
	if err != nil {
		return 0, 0
	}
	return was.Each, was.Parts
}

// readBegun reads the beginning of a file.
func readBegun(r io.Reader, folder string) (b begun, err error) {
	magic := make([]byte, len(checkpointMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != checkpointMagic {
		return b, fmt.Errorf("--checkpoint %s: the file %s in it is none of this program", folder, checkpointName)
	}
	text, err := readFrame(r)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		err = fmt.Errorf("--checkpoint %s: the file %s in it ends early", folder, checkpointName)
	}
	return b, err
}

// openCheckpoint begins a checkpoint in folder, or goes on with the one that is there.
func openCheckpoint(folder string, of begun, resume bool) (*checkpoint, error) {
	path := filepath.Join(folder, checkpointName)
	c := &checkpoint{known: map[[sha256.Size]byte][][]byte{}}
	if !resume {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		c.f = f
		w := bufio.NewWriter(f)
		text, err := json.Marshal(of)
		if err != nil {
			return nil, err
		}
		w.WriteString(checkpointMagic)
		frame(w, text)
		return c, w.Flush()
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := c.read(f, folder, of); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

// read takes in the passes of a file, as far as they were written whole.
func (c *checkpoint) read(f *os.File, folder string, of begun) error {
	r := &counting{r: bufio.NewReaderSize(f, 1<<20)}
	was, err := readBegun(r, folder)
	switch {
	case err != nil:
		return err
	case was.Rows != of.Rows:
		return fmt.Errorf("--checkpoint %s: it holds another fit, of %s", folder, was.Rows)
	case was != of:
		return fmt.Errorf("--checkpoint %s: the rows have changed since that fit was begun; use another folder", folder)
	}
	at := r.n
	for {
		key, answers, size, err := readPass(r)
		if err != nil { // the program was ended while it wrote
			break
		}
		c.known[key] = answers
		at += size
	}
	if err := f.Truncate(at); err != nil {
		return err
	}
	_, err = f.Seek(at, io.SeekStart)
	c.f = f
	return err
}

// readPass reads a pass: the hash of its job, the bytes that follow and their sum, then the answers.
func readPass(r io.Reader) (key [sha256.Size]byte, answers [][]byte, size int64, err error) {
	if _, err = io.ReadFull(r, key[:]); err != nil {
		return key, nil, 0, err
	}
	body, err := readFrame(r)
	if err != nil {
		return key, nil, 0, err
	}
	var sum [sha256.Size]byte
	if _, err = io.ReadFull(r, sum[:]); err != nil || sha256.Sum256(body) != sum {
		return key, nil, 0, errors.Join(err, io.ErrUnexpectedEOF)
	}
	size = int64(2*sha256.Size + 4 + len(body))
	b := bytes.NewReader(body)
	for b.Len() > 0 {
		a, err := readFrame(b)
		if err != nil {
			return key, nil, 0, err
		}
		answers = append(answers, a)
	}
	return key, answers, size, nil
}

// pass returns what a job came to before, or makes it and keeps that.
func (c *checkpoint) pass(ctx context.Context, job []byte, make func(context.Context) ([][]byte, error)) ([][]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := sha256.Sum256(job)
	if known, ok := c.known[key]; ok {
		return known, nil
	}
	answers, err := make(ctx)
	if err != nil {
		return nil, err
	}
	c.known[key] = answers
	return answers, c.write(key, answers)
}

func (c *checkpoint) write(key [sha256.Size]byte, answers [][]byte) error {
	var body bytes.Buffer
	for _, a := range answers {
		frame(&body, a)
	}
	sum := sha256.Sum256(body.Bytes())
	var whole bytes.Buffer
	whole.Write(key[:])
	if err := binary.Write(&whole, binary.BigEndian, uint32(body.Len())); err != nil {
		return err
	}
	whole.Write(body.Bytes())
	whole.Write(sum[:])
	if _, err := c.f.Write(whole.Bytes()); err != nil {
		return err
	}
	if c.new++; c.new < syncEvery {
		return nil
	}
	c.new = 0
	return c.f.Sync()
}

func (c *checkpoint) close() error { return c.f.Close() }

// counting counts what is read.
type counting struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
