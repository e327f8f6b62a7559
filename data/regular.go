package data

import (
	"io/fs"
	"os"
)

// regular is a regular file that is read at any offset. It remembers how long the file was and when it was last written
// to when it was opened: rows are those of one state of the file, or an error.
type regular struct {
	*os.File
	name string // what it is called in messages
	was  fs.FileInfo
}

// changed returns an error if the file is no longer what it was when it was opened. A file that took its name since,
// as programs do that write beside and rename, is another one and changes nothing.
func (f *regular) changed() error {
	now, err := f.Stat()
	if err != nil {
		return fileError(f.name, "%v", cause(err))
	}
	return stateError(f.name, f.was, now, "while it was read")
}

// stateError says what happened to a file between two looks at it.
func stateError(name string, was, now fs.FileInfo, when string) error {
	switch {
	case now.Size() < was.Size():
		return fileError(name, "the file became shorter %s", when)
	case now.Size() > was.Size():
		return fileError(name, "the file became longer %s", when)
	case !now.ModTime().Equal(was.ModTime()):
		return fileError(name, "the file was written to %s", when)
	}
	return nil
}

// Changed returns an error if a file was written to after Load or Profile had read it: what was found out is true of
// the rows as they were then. It is nil where the path holds another file now, and for what is no regular file.
func (f *Info) Changed() error {
	if f.files != nil {
		for _, p := range f.files.list {
			if now, err := os.Stat(p.path); err == nil && os.SameFile(p.was, now) {
				if err := stateError(p.path, p.was, now, "after it was read"); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if f.file == nil {
		return nil
	}
	now, err := os.Stat(f.file.Name())
	if err != nil || !os.SameFile(f.file.was, now) {
		return nil
	}
	return stateError(f.file.name, f.file.was, now, "after it was read")
}
