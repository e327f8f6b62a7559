package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Files writes several files, all or none, and each as a whole: they are filled beside their names, which they take
// at the end. What is no regular file, such as /dev/stdout or a pipe, is written directly. Nothing is synced to the
// disk. What a process that was killed left beside a name is removed by the next that writes to that name, unless it
// belongs to another machine. The zero value is ready:
//
//	var t data.Files
//	defer t.Abort()
//	f, err := t.Create("model.json")
//	...
//	err = t.Commit()
//
// It is used by one goroutine at a time.
type Files struct {
	files   []pending
	folders []string // that Folder made, outermost first
}

// pending is a file that has no name yet.
type pending struct {
	path   string // as the user gave it, for messages
	target string // where it goes: path, or what it links to
	temp   string // "" for what is written directly
	backup string // what was there before; "" for nothing
	f      *os.File
	owner  *os.File // keeps others from removing temp; nil where the file system has no owners
	moved  bool     // it has its name
}

// Folder makes a folder, and those above it, where they are missing. Abort removes those it made.
func (t *Files) Folder(path string) error {
	var missing []string
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s: there is a file of this name; give another folder", p)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			return fmt.Errorf("%s: %w", path, cause(err))
		}
		missing = append(missing, p)
	}
	slices.Reverse(missing)
	for _, p := range missing {
		if err := os.Mkdir(p, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: the folder cannot be made: %w", p, cause(err))
		}
		t.folders = append(t.folders, p)
	}
	return nil
}

// Create returns a file to be written, which will be called path after Commit. The caller need not close it.
func (t *Files) Create(path string) (*Output, error) {
	p := pending{path: path, target: path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		p.target = target
	}
	mode := fs.FileMode(0o644)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s: this is a folder; give the name of a file", path)
	case err == nil && !info.Mode().IsRegular():
		if p.f, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", path, cause(err))
		}
		t.files = append(t.files, p)
		return &Output{path, p.f}, nil
	case err == nil:
		mode = info.Mode().Perm()
	}
	removeAbandoned(p.target)
	if p.temp, p.f, p.owner, err = besides(p.target); err != nil {
		return nil, createError(path, err)
	}
	if mode != 0o644 { // a file that is replaced keeps its permissions; where that is impossible it gets the usual ones
		_ = p.f.Chmod(mode)
	}
	t.files = append(t.files, p)
	return &Output{path, p.f}, nil
}

// besides creates a file of a new name in the folder of target, and makes this process its owner where that is possible.
func besides(target string) (string, *os.File, *os.File, error) {
	dir, base := filepath.Split(target)
	for try := 0; ; try++ {
		name := freshName(dir, base, tempEnd)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			owner := tryOwn(name)
			if _, gone := os.Lstat(name); owner != nil || gone == nil || try == 100 {
				return name, f, owner, nil
			}
			f.Close() // another process took it for abandoned, in the moment before it had an owner
			continue
		}
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return name, f, nil, err
		}
	}
}

// createError says in plain words why a file could not be created.
func createError(path string, err error) error {
	dir := filepath.Dir(path)
	if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("%s: the folder %s does not exist; make it first", path, dir)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: no permission to write in the folder %s", path, dir)
	}
	return fmt.Errorf("%s: %w", path, cause(err))
}

// cause is err without the operation and path, which the message has already.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// Commit gives all files their names. After an error none has: files that were there before are back.
func (t *Files) Commit() error {
	for i := range t.files {
		p := &t.files[i]
		err := p.f.Close()
		if err != nil && !errors.Is(err, os.ErrClosed) {
			t.Abort()
			return &WriteError{p.path, cause(err)}
		}
	}
	for i := range t.files {
		if err := t.files[i].move(i < len(t.files)-1); err != nil {
			t.Abort()
			return err
		}
	}
	for _, p := range t.files {
		if p.backup != "" {
			os.Remove(p.backup)
		}
		p.disown()
	}
	t.files, t.folders = nil, nil
	return nil
}

// disown lets others take what is left of the file.
func (p *pending) disown() {
	if p.owner != nil {
		p.owner.Close()
	}
}

// move gives the file its name. keep says that more are to follow, so that what it replaces may be needed again.
func (p *pending) move(keep bool) error {
	if p.temp == "" {
		return nil
	}
	if _, err := os.Lstat(p.target); keep && err == nil {
		dir, base := filepath.Split(p.target)
		backup := freshName(dir, base, backupEnd)
		err := os.Link(p.target, backup) // the old file keeps its name until the new one takes it
		if err != nil {
			err = os.Rename(p.target, backup)
		}
		if err != nil {
			return fmt.Errorf("%s: the old file cannot be kept for the case of an error: %w", p.path, cause(err))
		}
		p.backup = backup
	}
	if err := os.Rename(p.temp, p.target); err != nil {
		return fmt.Errorf("%s: %w", p.path, cause(err))
	}
	p.moved = true
	return nil
}

// Abort removes what was written; files that were there before are as they were. After Commit it does nothing.
func (t *Files) Abort() {
	for i := len(t.files) - 1; i >= 0; i-- {
		p := &t.files[i]
		p.f.Close()
		switch {
		case p.temp == "":
		case !p.moved:
			os.Remove(p.temp)
		case p.backup == "":
			os.Remove(p.target)
		}
		if p.backup != "" {
			os.Rename(p.backup, p.target)
			os.Remove(p.backup) // it is still there where both were names of one file
		}
		p.disown()
	}
	for _, dir := range slices.Backward(t.folders) {
		os.Remove(dir) // unless somebody else put something in it
	}
	t.files, t.folders = nil, nil
}
