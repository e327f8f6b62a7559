package data

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Ends of the names beside an output: what is being written, and what was there before.
const (
	tempEnd   = ".tmp"
	backupEnd = ".old"
)

// machine is a name of this machine for file names. Folders may be shared with others, whose processes cannot be seen here.
var machine = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id")
	sum := sha256.Sum256([]byte(name + "\n" + string(id)))
	return hex.EncodeToString(sum[:4])
})

// nameStart is what all names beside an output begin with.
func nameStart(base string) string {
	short := strings.ToValidUTF8(base[:min(len(base), 90)], "") // some file systems refuse half a character
	return "." + short + "." + machine() + "-"
}

// randomPart is the number of hexadecimal digits between nameStart and the end.
const randomPart = 12

// freshName returns a new name beside an output.
func freshName(dir, base, end string) string {
	var r [randomPart / 2]byte
	rand.Read(r[:])
	return dir + nameStart(base) + hex.EncodeToString(r[:]) + end
}

// removeAbandoned removes what processes of this machine left beside target when they were killed: files with names that
// freshName gives for it, and no owner. What was there before an output goes only where the output itself is there and
// nobody is writing it: otherwise it may be the only copy.
func removeAbandoned(target string) {
	dir, base := filepath.Split(target)
	folder, err := os.Open(filepath.Clean(dir + "."))
	if err != nil {
		return // whoever writes there will say why not
	}
	names, _ := folder.Readdirnames(-1)
	folder.Close()
	start, written := nameStart(base), false
	var backups []string
	for _, name := range names {
		rest, ours := strings.CutPrefix(name, start)
		if !ours || len(rest) != randomPart+len(tempEnd) || strings.Trim(rest[:randomPart], "0123456789abcdef") != "" {
			continue
		}
		switch rest[randomPart:] {
		case tempEnd:
			if !removeOwned(dir+name, dir+name) {
				written = true
			}
		case backupEnd:
			backups = append(backups, dir+name)
		}
	}
	for _, name := range backups {
		if !written { // while a process moves its file to its name, one of both is owned
			removeOwned(name, target)
		}
	}
}

// removeOwned removes the file called name if this process can own the one called owned.
func removeOwned(name, owned string) bool {
	owner := tryOwn(owned)
	if owner == nil {
		return false
	}
	defer owner.Close()
	return os.Remove(name) == nil
}
