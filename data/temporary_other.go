//go:build !unix && !windows

package data

import "os"

// temporary makes a file in dir. It stays there if this process is killed: the system cannot do without its name.
func temporary(dir string) (*os.File, error) { return os.CreateTemp(dir, "latent-*.tmp") }
