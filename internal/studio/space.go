package studio

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// maxFiles is how many uploads a workspace keeps, tables and pictures each: the oldest goes when another comes.
const maxFiles = 8

// spaces are the workspaces of the browsers that were let in, by their cookie.
type spaces struct {
	mu sync.Mutex
	of map[string]*space
}

func newSpaces() *spaces { return &spaces{of: map[string]*space{}} }

// space is what one browser has opened.
type space struct {
	mu       sync.Mutex
	files    map[string]*file // by id
	pictures map[string]*shot // by id
	kept     []upload         // the oldest first
	runs     []*run           // the newest last
}

// upload is what lies in a folder of its own.
type upload struct {
	id, folder string
	picture    bool
}

// get returns the workspace of a cookie, made when it is first asked for.
func (s *spaces) get(cookie string) *space {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.of[cookie]
	if w == nil {
		w = &space{files: map[string]*file{}, pictures: map[string]*shot{}}
		s.of[cookie] = w
	}
	return w
}

// keep takes note of an upload, and lets go of the oldest of its kind where there are too many.
func (s *Studio) keep(w *space, u upload) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, u)
	n, oldest := 0, -1
	for i, old := range w.kept {
		if old.picture != u.picture {
			continue
		}
		if n++; oldest < 0 {
			oldest = i
		}
	}
	if n <= maxFiles {
		return
	}
	old := w.kept[oldest]
	w.kept = append(w.kept[:oldest], w.kept[oldest+1:]...)
	if f := w.files[old.id]; f != nil {
		s.drop(f)
	}
	delete(w.files, old.id)
	delete(w.pictures, old.id)
	os.RemoveAll(old.folder) // what is left goes with the folder of all
}

// leave lets go of the workspace of a cookie that is no longer let in, of its uploads and its runs, which are stopped.
func (s *Studio) leave(cookie string) {
	s.space.mu.Lock()
	w := s.space.of[cookie]
	delete(s.space.of, cookie)
	s.space.mu.Unlock()
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		s.drop(f)
	}
	for _, u := range w.kept {
		os.RemoveAll(u.folder) // as above
	}
	for _, n := range w.runs {
		n.stop()
		go func() {
			<-n.ended
			s.forget(n)
		}()
	}
}

// spaceOf returns the workspace of a request that the door has let in.
func (s *Studio) spaceOf(r *http.Request) *space { return s.space.get(cookieOf(r)) }

// newFolder makes a folder for an upload, whose id has a letter before its number.
func (s *Studio) newFolder(letter string) (id, folder string, err error) {
	id = letter + strconv.FormatInt(s.ids.Add(1), 10)
	folder = filepath.Join(s.Folder, id)
	return id, folder, os.Mkdir(folder, 0o700)
}
