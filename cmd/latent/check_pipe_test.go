package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// endlessLines gives lines of numbers for ever, and fails the test where more than most bytes are read.
type endlessLines struct {
	t          *testing.T
	read, most int
}

func (e *endlessLines) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > e.most {
		e.t.Errorf("%d bytes were read", e.read)
		return 0, io.EOF
	}
	for i := range p {
		p[i] = "1,2\n"[i%4]
	}
	return len(p) &^ 3, nil
}

// TestCheckOfAnEndlessPipe: --limit and --max-memory end the reading of standard input by check.
func TestCheckOfAnEndlessPipe(t *testing.T) {
	for _, c := range []struct {
		flags, want string
		status      int
	}{
		{"--limit 5", "5 rows", 0},
		{"--max-memory 2M", "than the 2 MiB of memory that may be used", 1},
	} {
		var out, errs bytes.Buffer
		in := &endlessLines{t: t, most: 16 << 20}
		status := run(context.Background(), append(strings.Fields("check - --format csv"), strings.Fields(c.flags)...), in, &out, &errs)
		if all := out.String() + errs.String(); status != c.status || !strings.Contains(all, c.want) {
			t.Errorf("%s: status %d, %s", c.flags, status, all)
		}
	}
}

// TestCheckOfAPipeTellsAll: what check says of standard input is what it says of the same file.
func TestCheckOfAPipeTellsAll(t *testing.T) {
	text := "x,y,z\n1,2,5\n2,4,1\n3,6,7\n4,8,2\n"
	var out, errs bytes.Buffer
	if status := run(context.Background(), strings.Fields("check - --format csv"), strings.NewReader(text), &out, &errs); status != 0 || !strings.Contains(out.String()+errs.String(), "columns are collinear") {
		t.Errorf("status %d, %s%s", status, out.String(), errs.String())
	}
}
