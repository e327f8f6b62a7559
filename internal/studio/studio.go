// Package studio is the local page: it serves files that are built in, runs the command's own fits in this process and hands out what a page draws.
// Nothing of it leaves the computer.
package studio

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

// Hooks are what a run in this process is given beside its words.
type Hooks struct {
	Observe latent.Observer // sees the steps of a fit
	Folder  string          // files in it are called by the rest of their path, in results, files and messages
	// Read is given the rows of a fit, what was found out about them, and the options by which data.Load reads them again; may be nil.
	Read func(src data.Source, info *data.Info, o data.Options)
	// Result is given the result of a fit when its files are written, and that of a model file that is shown; may be nil.
	Result func(r *latent.Result)
}

// A RunFunc runs one command of the program, such as "fit", "data.csv", "-k", "3", and returns its exit status. What is printed goes to out and
// errw. Several may run at once.
type RunFunc func(ctx context.Context, args []string, out, errw io.Writer, hooks Hooks) int

// Options says what a studio serves.
type Options struct {
	Run       RunFunc
	Host      string // host and port that the listener is bound to, such as 127.0.0.1:34567
	Token     string // what the first address is opened with
	Once      string // a token that works once, for the browser that is opened; "" for none
	File      string // a file that is offered at Your data; "" for none
	MaxUpload int64  // bytes
	Folder    string // where uploads and what runs write go; the caller removes it
	Version   string
}

// Studio is a running local page.
type Studio struct {
	Options
	ctx     context.Context // ends all runs
	space   *spaces
	mux     *http.ServeMux
	cross   *http.CrossOriginProtection
	entry   entry
	ids     atomic.Int64  // of files and pictures
	uploads chan struct{} // one for each that is under way
	wait    time.Duration // for the next bytes of an upload
	held    atomic.Int64  // bytes of tables in memory
	tables  tables        // the rows of runs
	labs    sync.Mutex    // held while tables of the lab are made
	given   func() *file  // Options.File, when it has been looked at
	ready   chan struct{} // closed when it has
	sets    func() []set  // the built-in sets
	// runsTold is what /api/state says of the runs of a workspace.
	runsTold func(*space) any
}

// New returns a studio whose runs end with ctx.
func New(ctx context.Context, o Options) *Studio {
	s := &Studio{Options: o, ctx: ctx, space: newSpaces(), mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(), uploads: make(chan struct{}, maxUploads), wait: patience}
	s.entry.once = o.Once
	s.sets = sync.OnceValue(s.builtIn)
	s.runsTold = func(*space) any { return []any{} }
	s.given = sync.OnceValue(s.openGiven)
	if s.ready = make(chan struct{}); o.File != "" {
		go func() { // the page will ask for it at once
			s.given()
			close(s.ready)
		}()
	}
	s.pages(s.mux)
	s.dataRoutes(s.mux)
	s.runRoutes(s.mux)
	s.labRoutes(s.mux)
	s.pictureRoutes(s.mux)
	return s
}

// Handler returns what answers requests, behind the door.
func (s *Studio) Handler() http.Handler { return s.door(s.mux) }
