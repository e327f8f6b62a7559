//go:build !unix && !windows

package scratch

import "os"

// File makes a file in dir. It stays there if this process is killed: the system cannot do without its name.
func File(dir string) (*os.File, error) { return os.CreateTemp(dir, "latent-*.tmp") }
