//go:build unix

package scratch

import "os"

// File makes a file without a name in dir: whatever becomes of this process, nothing of it is left.
func File(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "latent-*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
