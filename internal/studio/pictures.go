package studio

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/picture"
)

// maxColours is how far the colours of a picture are counted.
const maxColours = 1 << 20

// shot is a picture that is open.
type shot struct {
	ID, Name     string
	path, folder string
	box          string // where what is made of it lies

	mu     sync.Mutex
	busy   bool
	number int
	made   string // the folder of the last segmentation; "" for none
	groups int    // components of its model
}

// pictureRoutes serve pictures.
func (s *Studio) pictureRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/pictures", s.serveShow)
	mux.HandleFunc("POST /api/pictures/{id}/segment", s.withShot(s.serveSegment))
	mux.HandleFunc("GET /api/pictures/{id}/before.png", s.withShot(func(w http.ResponseWriter, r *http.Request, p *shot) {
		sendFile(w, r, filepath.Join(p.box, "before.png"), "image/png")
	}))
	for name, kind := range map[string]string{"after.png": "image/png", "labels.png": "image/png", "palette.csv": "text/csv; charset=utf-8"} {
		mux.HandleFunc("GET /api/pictures/{id}/"+name, s.withShot(func(w http.ResponseWriter, r *http.Request, p *shot) {
			if folder, _, ok := p.last(w); ok {
				sendFile(w, r, filepath.Join(folder, name), kind)
			}
		}))
	}
	mux.HandleFunc("GET /api/pictures/{id}/segments.bin", s.withShot(serveSegments))
}

// withShot answers a request about a picture.
func (s *Studio) withShot(serve func(http.ResponseWriter, *http.Request, *shot)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		space := s.spaceOf(r)
		space.mu.Lock()
		p := space.pictures[r.PathValue("id")]
		space.mu.Unlock()
		if p == nil {
			fail(w, http.StatusNotFound, "that picture is no longer open: open it again")
			return
		}
		serve(w, r, p)
	}
}

// last returns where the last segmentation lies, and of how many groups it is.
func (p *shot) last(w http.ResponseWriter) (folder string, groups int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == "" {
		fail(w, http.StatusNotFound, "%s: it has not been segmented yet", p.Name)
		return "", 0, false
	}
	return p.made, p.groups, true
}

// sendFile answers with a file that a run wrote.
func sendFile(w http.ResponseWriter, r *http.Request, path, kind string) {
	f, err := os.Open(path)
	if err != nil {
		fail(w, http.StatusNotFound, "that file is no longer there: run it again")
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", time.Time{}, f)
}

// serveShow opens a picture that is sent.
func (s *Studio) serveShow(w http.ResponseWriter, r *http.Request) {
	done, ok := s.begin(w)
	if !ok {
		return
	}
	defer done()
	name := label(r.URL.Query().Get("name"))
	id, folder, err := s.newFolder("p")
	if err != nil {
		fail(w, http.StatusInternalServerError, "%s: there is no place to keep it: %s", name, reason(err))
		return
	}
	p := &shot{ID: id, Name: name, folder: filepath.Join(folder, "in"), box: folder}
	p.path = filepath.Join(p.folder, fileName(name))
	var told map[string]any
	no := s.receiveShot(w, r, p)
	if no == nil {
		told, no = p.open()
	}
	if no != nil {
		os.RemoveAll(folder) // what is left goes with the folder of all
		fail(w, no.status, "%s", no.text)
		return
	}
	space := s.spaceOf(r)
	space.mu.Lock()
	space.pictures[id] = p
	space.mu.Unlock()
	s.keep(space, upload{id: id, folder: folder, picture: true})
	answer(w, http.StatusOK, told)
}

// receiveShot writes the body of a request where the picture shall lie.
func (s *Studio) receiveShot(w http.ResponseWriter, r *http.Request, p *shot) *refusal {
	if err := os.Mkdir(p.folder, 0o700); err != nil {
		return &refusal{http.StatusInternalServerError, p.Name + ": there is no place to keep it: " + reason(err)}
	}
	return s.receive(w, r, p.path, p.Name)
}

// open reads the picture, and writes it anew as browsers show it: upright, and in a format that all of them know.
func (p *shot) open() (map[string]any, *refusal) {
	wrong := func(err error) *refusal {
		return &refusal{http.StatusUnprocessableEntity, strings.ReplaceAll(err.Error(), p.path, p.Name)}
	}
	m, err := picture.Open(p.path, "", nil)
	if err != nil {
		return nil, wrong(err)
	}
	features, err := m.Features("rgb", 0)
	if err != nil {
		return nil, wrong(fmt.Errorf("%s: %w", p.Name, err))
	}
	f, err := os.OpenFile(filepath.Join(p.box, "before.png"), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, wrong(err)
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err = encoder.Encode(f, m.Image())
	if bad := f.Close(); err == nil {
		err = bad
	}
	if err != nil {
		return nil, &refusal{http.StatusInsufficientStorage, p.Name + ": there is no place to keep it: " + reason(err)}
	}
	return map[string]any{"id": p.ID, "name": p.Name, "width": m.Width, "height": m.Height, "colours": features.DistinctColours(maxColours)}, nil
}

// segmentRequest is what is asked of a picture.
type segmentRequest struct {
	K          int     `json:"k"`
	Model      string  `json:"model"`
	Covariance string  `json:"covariance"`
	Algorithm  string  `json:"algorithm"`
	Space      string  `json:"space"`
	Position   float64 `json:"position"`
	Seed       *uint64 `json:"seed"`
}

// flags returns what is asked for as a command line has it.
func (q *segmentRequest) flags() []string {
	args := []string{"-k", strconv.Itoa(q.K)}
	for _, f := range [][2]string{{"--model", q.Model}, {"--covariance", q.Covariance}, {"--algorithm", q.Algorithm}, {"--space", q.Space}} {
		if f[1] != "" {
			args = append(args, f[0], f[1])
		}
	}
	if q.Position != 0 {
		args = append(args, "--position", strconv.FormatFloat(q.Position, 'g', -1, 64))
	}
	if q.Seed != nil {
		args = append(args, "--seed", strconv.FormatUint(*q.Seed, 10))
	}
	return args
}

// serveSegment segments a picture, and tells of its progress.
func (s *Studio) serveSegment(w http.ResponseWriter, r *http.Request, p *shot) {
	var q segmentRequest
	if err := decode(w, r, &q); err != nil {
		fail(w, http.StatusBadRequest, "%s", err)
		return
	}
	p.mu.Lock()
	busy := p.busy
	if !busy {
		p.busy = true
		p.number++
	}
	number := p.number
	p.mu.Unlock()
	if busy {
		fail(w, http.StatusConflict, "%s: it is being segmented already", p.Name)
		return
	}
	defer func() {
		p.mu.Lock()
		p.busy = false
		p.mu.Unlock()
	}()
	out := newStream(w)
	defer out.end()
	result, no := s.segment(r.Context(), p, &q, fmt.Sprintf("s%d", number), out)
	out.end()
	if no != nil {
		out.send(map[string]string{"error": no.text})
		return
	}
	out.send(map[string]any{"result": result.told, "segments": result.segments, "command": result.command, "run": result.run})
}

// segmented is what a segmentation leads to.
type segmented struct {
	told     json.RawMessage // what `latent segment --json` prints
	segments []swatch
	command  string
	run      string
}

// swatch is a segment as the palette shows it.
type swatch struct {
	Label  int     `json:"label"`
	Share  float64 `json:"share"`
	Pixels int64   `json:"pixels"`
	Hex    string  `json:"hex"`
}

// segment runs the command and keeps what it writes.
func (s *Studio) segment(ctx context.Context, p *shot, q *segmentRequest, run string, out *stream) (*segmented, *refusal) {
	folder := filepath.Join(p.box, run)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, &refusal{http.StatusInternalServerError, p.Name + ": there is no place for the result: " + reason(err)}
	}
	args := append([]string{"segment"}, q.flags()...)
	files := []string{"-o", filepath.Join(folder, "after.png"), "--labels", filepath.Join(folder, "labels.png"), "--palette", filepath.Join(folder, "palette.csv")}
	hooks := Hooks{Folder: p.folder, Observe: latent.Observer{Step: func(step latent.Progress) { out.progress(step) }}}
	printed, _, no := s.command(ctx, p.path, p.Name, hooks, slices.Concat(args, files, []string{"--json", "--no-progress", "--", p.path})...)
	var read struct {
		Components []json.RawMessage `json:"components"`
		Segments   []picture.Segment `json:"segments"`
	}
	if no == nil {
		if err := json.Unmarshal(printed, &read); err != nil {
			no = &refusal{http.StatusInternalServerError, "this is a fault of latent studio: " + err.Error()}
		}
	}
	if no != nil {
		os.RemoveAll(folder) // what is left goes with the folder of all
		return nil, no
	}
	p.mu.Lock()
	before := p.made
	p.made, p.groups = folder, len(read.Components)
	p.mu.Unlock()
	if before != "" {
		os.RemoveAll(before) // as above
	}
	r := &segmented{told: printed, run: run}
	for _, g := range read.Segments {
		r.segments = append(r.segments, swatch{g.Label, g.Share, g.Pixels, g.Hex()})
	}
	slices.SortStableFunc(r.segments, func(a, b swatch) int { return cmp.Compare(b.Pixels, a.Pixels) })
	r.command = shellCommand("segment", typed(p.Name, p.path), append(q.flags(), "-o", "segmented.png"))
	return r, nil
}

// outside is the segment of a pixel that has none.
const outside = 0xffff

// serveSegments answers the segment of every pixel, from 0.
func serveSegments(w http.ResponseWriter, _ *http.Request, p *shot) {
	folder, groups, ok := p.last(w)
	if !ok {
		return
	}
	f, err := os.Open(filepath.Join(folder, "labels.png"))
	if err != nil {
		fail(w, http.StatusNotFound, "that file is no longer there: run it again")
		return
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		fail(w, http.StatusInternalServerError, "%s: this is a fault of latent studio: %v", p.Name, err)
		return
	}
	size := m.Bounds().Size()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(2*size.X*size.Y))
	out := bufio.NewWriterSize(w, 1<<16)
	for y := range size.Y {
		for x := range size.X {
			v := valueOf(m, x, y)
			if v >= groups {
				v = outside
			}
			out.WriteByte(byte(v))
			out.WriteByte(byte(v >> 8))
		}
	}
	out.Flush() // an error means that nobody listens any more
}

// valueOf returns the sample of a pixel of a gray picture.
func valueOf(m image.Image, x, y int) int {
	switch m := m.(type) {
	case *image.Gray:
		return int(m.GrayAt(x, y).Y)
	case *image.Gray16:
		return int(m.Gray16At(x, y).Y)
	}
	return outside
}
