package scratch

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// File makes a file in dir that the system removes when it is closed, by this process or at its end.
func File(dir string) (*os.File, error) {
	var r [8]byte
	rand.Read(r[:])
	name := filepath.Join(dir, "latent-"+hex.EncodeToString(r[:])+".tmp")
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}
