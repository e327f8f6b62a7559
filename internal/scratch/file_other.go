//go:build !unix && !windows

package scratch

import "os"

// File makes a file in dir. It stays there: this system cannot keep an open file whose name is gone.
func File(dir string) (*os.File, error) { return os.CreateTemp(dir, "latent-*.tmp") }
