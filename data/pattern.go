package data

import (
	"regexp"
	"sync"
)

// pattern returns what compiles a regular expression when it is first asked for: reading most tables asks for none.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
