package spark

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/transit"
)

// Rows are the rows of a table that Spark holds. It implements data.Remote.
type Rows struct {
	*table
	views []data.View
	owns  bool // the application is its own
}

// table is what all views over the rows share.
type table struct {
	app    *App
	layout data.Layout
	n      int64
	each   int64 // rows of a part, but for the last
	parts  int
	kept   *checkpoint // nil without

	mu   sync.Mutex
	at   int // the part that was brought here last
	here *data.Table
}

// Close lets go of the rows, and ends an application that was started for them.
func (r *Rows) Close() error {
	if r.kept != nil {
		r.kept.close()
	}
	if !r.owns {
		return nil
	}
	return r.app.Close()
}

// Shape implements data.Source.
func (r *Rows) Shape() (rows int64, cols int) {
	var src data.Source = &data.Table{D: r.layout.D}
	for _, v := range r.views {
		src = v.Rows(src)
	}
	_, cols = src.Shape()
	return r.n, cols
}

// Views implements data.Remote.
func (r *Rows) Views() []data.View { return r.views }

// With implements data.Remote.
func (r *Rows) With(v data.View) data.Remote {
	return &Rows{table: r.table, views: append(r.views[:len(r.views):len(r.views)], v)}
}

// Pass implements data.Remote.
func (r *Rows) Pass(ctx context.Context, job []byte) ([][]byte, error) {
	b, err := transit.Encode(passJob{r.layout, r.each, job})
	if err != nil {
		return nil, err
	}
	pass := func(ctx context.Context) ([][]byte, error) { return r.call(ctx, 'P', b) }
	if r.kept != nil {
		return r.kept.pass(ctx, b, pass)
	}
	return pass(ctx)
}

// sum returns a check sum of all rows.
func (r *Rows) sum(ctx context.Context) (string, error) {
	answers, err := r.Pass(ctx, nil)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(bytes.Join(answers, nil))
	return hex.EncodeToString(sum[:]), nil
}

// Open implements data.Source: parts are brought here one after another.
func (r *Rows) Open(ctx context.Context) (data.Reader, error) {
	var src data.Source = &brought{table: r.table}
	for _, v := range r.views {
		src = v.Rows(src)
	}
	return src.Open(ctx)
}

// call asks the application something about the table.
func (t *table) call(ctx context.Context, op byte, args ...[]byte) ([][]byte, error) {
	if t.app.holds != t {
		return nil, errors.New("the Spark application has read another table since")
	}
	return t.app.call(ctx, op, args...)
}

// part brings a part here; the last one stays.
func (t *table) part(ctx context.Context, at int) (*data.Table, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.here != nil && t.at == at {
		return t.here, nil
	}
	answer, err := t.call(ctx, 'F', []byte(strconv.Itoa(at)))
	if err != nil {
		return nil, err
	}
	if len(answer) != 1 {
		return nil, fmt.Errorf("the application sent %d answers for one part", len(answer))
	}
	rows, err := t.layout.Table(answer[0], int64(at)*t.each)
	if err == nil {
		t.at, t.here = at, rows
	}
	return rows, err
}

// brought is the rows as they are brought here, without views, and a pass over them.
type brought struct {
	*table
	ctx  context.Context
	next int
	now  data.Reader
}

// Shape implements data.Source.
func (b *brought) Shape() (int64, int) { return b.n, b.layout.D }

// Open implements data.Source.
func (b *brought) Open(ctx context.Context) (data.Reader, error) {
	return &brought{table: b.table, ctx: ctx}, nil
}

// Read implements data.Reader. Parts begin at multiples of 2048 rows, so that no block lacks rows before the end but where a reader asks for
// another number of them than powers of two.
func (b *brought) Read(to *data.Block, n int) error {
	for {
		if b.now == nil {
			if b.next == b.parts {
				*to = data.Block{}
				return io.EOF
			}
			t, err := b.part(b.ctx, b.next)
			if err != nil {
				return err
			}
			if b.now, err = t.Open(b.ctx); err != nil {
				return err
			}
			b.next++
		}
		err := b.now.Read(to, n)
		if err != io.EOF {
			return err
		}
		b.now = nil
	}
}

// Close implements data.Reader.
func (b *brought) Close() error { return nil }

// cut says how rows are divided into parts: at most so many where asked is positive, else one a core and more where they would be large.
func cut(n int64, stride, asked, cores int) (each int64, parts int) {
	align := int64(sweep.AlignedRows(n))
	want := int64(asked)
	if want <= 0 {
		want = max(int64(cores), n*int64(stride)/partBytes+1)
	}
	want = max(want, n*int64(stride)/mostPartBytes+1)
	units := (n + align - 1) / align
	each = max(1, (units+want-1)/want) * align
	return each, int((n + each - 1) / each)
}

// partBytes is how large a part is at most where nobody says how many there are: a task that is lost is not much to do again.
const partBytes = 128 << 20

// mostPartBytes is how large a part can be, whoever asks: Java's arrays end at 2 GB.
const mostPartBytes = 1 << 30
