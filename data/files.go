package data

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	txt "github.com/latent-go/latent/internal/text"
)

// Parts returns the files that hold the rows of a table, in the order of their rows. A path names
//
//   - a file, whatever signs are in its name; also "-" and "@name", as Load has them;
//   - a folder: the files in it, in the order of the bytes of their names, so that part-10 stands before part-2;
//   - a pattern with *, ? or [a-z], as path/filepath.Match has it: the files, and the folders, that it matches, in the order of
//     the bytes of their paths.
//
// The files of more, which are paths of the same kinds, follow those of path. Names that begin with _ or . are left out of
// folders and patterns, as Spark and Hadoop do, unless the pattern has that sign there. A folder in a folder, a pattern that matches
// nothing and a file that is named twice are errors.
func Parts(path string, more ...string) ([]string, error) {
	l, err := listFiles(path, more)
	return l.paths, err
}

// fileList is the files of a table.
type fileList struct {
	paths []string
	notes []string // what was left out of them
}

// listFiles is Parts with what is to be said about it.
func listFiles(path string, more []string) (l fileList, err error) {
	for _, p := range append([]string{path}, more...) {
		if err := l.add(p); err != nil {
			return l, err
		}
	}
	seen := make(map[string]bool, len(l.paths))
	for _, p := range l.paths {
		if len(l.paths) > 1 && (p == "-" || strings.HasPrefix(p, "@")) {
			return l, fileError(p, "it cannot be one of several files; save it as a file first")
		}
		if p = filepath.Clean(p); seen[p] {
			return l, fileError(p, "it is named twice, and its rows would count twice; name every file once")
		}
		seen[p] = true
	}
	l.noteFolders()
	return l, nil
}

// add adds the files of one path.
func (l *fileList) add(path string) error {
	if path == "-" || strings.HasPrefix(path, "@") {
		l.paths = append(l.paths, path)
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return l.folder(path)
	case err == nil || !strings.ContainsAny(path, "*?["): // whoever opens it will say what is wrong with it
		l.paths = append(l.paths, path)
		return nil
	}
	return l.pattern(path)
}

// folder adds the files of a folder.
func (l *fileList) folder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return openError(dir, err)
	}
	var paths, hidden []string
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		if what := tableOfLog[name]; what != "" {
			return fileError(dir, "it is a %s table, whose log (%s) says which of its files still count; save the table as Parquet files, or name the files", what, name)
		}
		if isHiddenFile(name) {
			hidden = append(hidden, name)
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fileError(dir, "it holds the folder %s, and folders in folders are not read; name the files by a pattern, such as %s", name, txt.ShellWord(filepath.Join(dir, "*", "*")))
		}
		paths = append(paths, path)
	}
	if l.noteHidden(dir, hidden); len(paths) == 0 {
		return fileError(dir, "there is no file of rows in this folder")
	}
	slices.Sort(paths)
	l.paths = append(l.paths, paths...)
	return nil
}

// tableOfLog names the formats of tables in which a file may be in the folder and no longer in the table, by what they have there.
var tableOfLog = map[string]string{"_delta_log": "Delta", ".hoodie": "Hudi"}

// pattern adds what a pattern matches.
func (l *fileList) pattern(pattern string) error {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return fileError(pattern, "there is no such file, and as a pattern it cannot be read: is a [ never closed?")
	}
	slices.Sort(found)
	var hidden []string
	n := len(l.paths)
	for _, path := range found {
		if hiddenBy(pattern, path) {
			hidden = append(hidden, filepath.Base(path))
			continue
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			l.paths = append(l.paths, path)
		} else if err := l.folder(path); err != nil {
			return err
		}
	}
	if l.noteHidden(pattern, hidden); len(l.paths) == n {
		return fileError(pattern, "no file matches this pattern")
	}
	return nil
}

// isHiddenFile reports whether a name is one of those that are no part of a table.
func isHiddenFile(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
}

// hiddenBy reports whether a path that a pattern matches has a hidden name where the pattern has none.
func hiddenBy(pattern, path string) bool {
	asked, found := strings.Split(filepath.ToSlash(pattern), "/"), strings.Split(filepath.ToSlash(path), "/")
	for i, name := range found {
		if isHiddenFile(name) && name != "." && name != ".." && !(i < len(asked) && isHiddenFile(asked[i])) {
			return true
		}
	}
	return false
}

// isMarker reports whether a hidden file is one that programs leave beside the parts of a table, of which nothing need be said.
func isMarker(name string) bool {
	for _, start := range []string{"_SUCCESS", "_committed_", "_started_", "_metadata", "_common_metadata", ".DS_Store"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return strings.HasSuffix(name, ".crc")
}

// noteHidden notes which files were left out.
func (l *fileList) noteHidden(of string, hidden []string) {
	hidden = slices.DeleteFunc(hidden, isMarker)
	if len(hidden) == 0 {
		return
	}
	list, show := "", hidden[:min(len(hidden), 3)]
	if list = strings.Join(show, ", "); len(show) < len(hidden) {
		list += ", ..."
	}
	l.notes = append(l.notes, fmt.Sprintf("%s: left out %s (%s), as all files and folders whose names begin with _ or .", of, counted(int64(len(hidden)), "file"), list))
}

// noteFolders notes that values in the names of folders are not read.
func (l *fileList) noteFolders() {
	for _, p := range l.paths {
		for _, name := range strings.Split(filepath.ToSlash(filepath.Dir(p)), "/") {
			if strings.Contains(name, "=") && filepath.Dir(p) != filepath.Dir(l.paths[0]) {
				l.notes = append(l.notes, fmt.Sprintf("the parts stand in folders such as %s: what the names of folders say is no column of the table", name))
				return
			}
		}
	}
}

// partFiles opens the parts of a table when they are read: there may be more of them than a process may have open files.
type partFiles struct {
	list []*partFile
	lock chan struct{} // holds one token: whoever has it may look at the fields below
	open []*partFile   // in the order in which they were opened
}

// maxOpenParts is how many parts are open at most while none is read: reading opens one for each thread beyond them. Many systems
// allow a process 256 files.
const maxOpenParts = 32

// partFile is a regular file that is open while it is read. Its rows are those of the state in which it was first seen, or an error.
type partFile struct {
	all   *partFiles
	path  string
	was   fs.FileInfo
	f     *os.File // nil while it is closed
	users int
}

// add looks at a file, which must be a regular one.
func (a *partFiles) add(path string) (*partFile, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, openError(path, err)
	case !info.Mode().IsRegular():
		return nil, fileError(path, "it is no regular file, and cannot be one of several files of a table")
	}
	p := &partFile{all: a, path: path, was: info}
	a.list = append(a.list, p)
	return p, nil
}

// ReadAt implements io.ReaderAt.
func (p *partFile) ReadAt(b []byte, off int64) (int, error) {
	f, err := p.all.use(p)
	if err != nil {
		return 0, err
	}
	defer p.all.done(p)
	return f.ReadAt(b, off)
}

// use opens a file, if it is not open.
func (a *partFiles) use(p *partFile) (*os.File, error) {
	a.lock <- struct{}{}
	defer func() { <-a.lock }()
	if p.f == nil {
		a.closeIdle(maxOpenParts - 1)
		f, err := os.Open(p.path)
		if err != nil {
			return nil, openError(p.path, err)
		}
		now, err := f.Stat()
		if err == nil {
			err = p.sameAs(now)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		p.f = f
		a.open = append(a.open, p)
	}
	p.users++
	return p.f, nil
}

func (a *partFiles) done(p *partFile) {
	a.lock <- struct{}{}
	p.users--
	<-a.lock
}

// closeIdle closes files that nobody reads until so many are left, those first that were opened first.
func (a *partFiles) closeIdle(leave int) {
	for i := 0; len(a.open) > leave && i < len(a.open); {
		p := a.open[i]
		if p.users > 0 {
			i++
			continue
		}
		p.f.Close() // it was only read
		p.f = nil
		a.open = slices.Delete(a.open, i, i+1)
	}
}

// Close closes all files. Nobody may be reading.
func (a *partFiles) Close() error {
	a.lock <- struct{}{}
	defer func() { <-a.lock }()
	a.closeIdle(0)
	return nil
}

// sameAs returns an error if a file is not as it was when it was first seen.
func (p *partFile) sameAs(now fs.FileInfo) error {
	if !os.SameFile(p.was, now) {
		return fileError(p.path, "another file took its place while the table was read")
	}
	return stateError(p.path, p.was, now, "while the table was read")
}

// changed returns an error if one of the files is no longer what it was.
func (a *partFiles) changed() error {
	for _, p := range a.list {
		now, err := os.Stat(p.path)
		if err != nil {
			return openError(p.path, err)
		}
		if err := p.sameAs(now); err != nil {
			return err
		}
	}
	return nil
}
