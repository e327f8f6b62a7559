package data

import "os"

// A WriteError is what went wrong when a file was written, under the name that the file will have.
type WriteError struct {
	Path string // as it was given to Files.Create
	Err  error  // of the system: no space left on device
}

// Error names the output and what went wrong.
func (e *WriteError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error of the system.
func (e *WriteError) Unwrap() error { return e.Err }

// An Output is a file that Files makes, to be written. Its errors are WriteErrors.
type Output struct {
	path string
	f    *os.File
}

func (o *Output) explain(err error) error {
	if err == nil {
		return nil
	}
	return &WriteError{o.path, cause(err)}
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.f.Write(p)
	return n, o.explain(err)
}

// WriteString implements io.StringWriter.
func (o *Output) WriteString(s string) (int, error) {
	n, err := o.f.WriteString(s)
	return n, o.explain(err)
}

// Seek implements io.Seeker. It fails for what is no regular file.
func (o *Output) Seek(offset int64, whence int) (int64, error) {
	n, err := o.f.Seek(offset, whence)
	return n, o.explain(err)
}
