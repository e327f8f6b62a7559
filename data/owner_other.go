//go:build !unix

package data

import "os"

// tryOwn returns nil: files have no owners here that the system would forget when they end, so that what they leave behind
// stays.
func tryOwn(string) *os.File { return nil }
