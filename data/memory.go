package data

import (
	"fmt"
	"math"
	"runtime/debug"
)

// A MemoryError says that reading a file would hold more than Options.MaxMemory.
type MemoryError struct {
	File   string
	What   string // what is too large: "4,000,000 rows of 30 columns"; "" for the file itself as it comes, or unpacked
	Need   int64  // bytes it takes; 0 where that is not known
	Max    int64  // bytes that may be held
	Stream bool   // rows are read in every pass, so that Options.Stream is no help
}

// Error names the file, what it takes and what is allowed, and says what to do.
func (e *MemoryError) Error() string {
	s := e.File + ": "
	switch {
	case e.What == "":
		s += "it is larger, as it comes or unpacked,"
	case e.Need > 0:
		s += fmt.Sprintf("%s take %s, which is more", e.What, sizeText(e.Need))
	default:
		s += e.What + " take more"
	}
	return s + fmt.Sprintf(" than the %s of memory that may be used", sizeText(e.Max))
}

// sizeText writes a number of bytes for people, in units of 1,024.
func sizeText(n int64) string {
	v, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 || v >= 100 {
		return fmt.Sprintf("%.0f %s", v, units[i])
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}

// DefaultMaxMemory is what reading may hold where nothing is said: half of the memory of this machine, or of what is left
// to this process by its control group, its resource limits or GOMEMLIMIT, if that is less. Where none of it can be found
// out there is no limit. The other half is for what a fit holds beside the rows.
func DefaultMaxMemory() int64 {
	most := int64(math.MaxInt64)
	for _, n := range append(systemMemory(), debug.SetMemoryLimit(-1)) {
		if n > 0 {
			most = min(most, n)
		}
	}
	if most == math.MaxInt64 {
		return most
	}
	return most / 2
}

// addressable is more than any machine has, and what no allocation is ever asked beyond.
const addressable = min(math.MaxInt, 1<<46)

// columnCost is about what a column takes beside its cells: its name, statistics of every worker, what is told of it.
const columnCost = 1 << 10

// needed returns the bytes that n rows take, of which numbers are numbers of size bytes and texts are texts; the bytes of
// the texts themselves are not known before they are read.
func needed(n, numbers, size, texts int64) int64 {
	a := float64(n) * (float64(numbers)*float64(size) + 16*float64(texts))
	return int64(min(a, 1<<60)) // sums of a few are no overflow
}
