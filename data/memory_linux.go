package data

import (
	"bufio"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemMemory returns the limits of memory that this process has, in bytes, as far as they are known.
func systemMemory() []int64 {
	var limits []int64
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		limits = append(limits, int64(uint64(info.Totalram)*uint64(info.Unit)))
	}
	addresses, private := taken()
	for what, taken := range map[int]int64{unix.RLIMIT_AS: addresses, unix.RLIMIT_DATA: private} {
		var r unix.Rlimit
		if unix.Getrlimit(what, &r) == nil && r.Cur < math.MaxInt64 {
			limits = append(limits, max(leastMemory, int64(r.Cur)-taken))
		}
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return limits
	}
	return append(limits, groupLimits(string(groups), "/sys/fs/cgroup", os.ReadFile)...)
}

// leastMemory is what is taken to be left where a limit of addresses is all but reached.
const leastMemory = 2 << 20

// taken returns how many bytes of addresses this process has, and how many of them are private memory. The runtime takes more
// than a gigabyte of addresses at its start, without touching them, and they count against the limits of both.
func taken() (addresses, private int64) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(b)) // size resident shared text lib data dt, in pages
	if len(fields) < 6 {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	size, _ := strconv.ParseInt(fields[0], 10, 64)
	data, _ := strconv.ParseInt(fields[5], 10, 64)
	return size * page, data * page
}

// groupLimits returns the limits that control groups set: those of the groups in /proc/self/cgroup and of all above them,
// of version 2 (memory.max) and version 1 (memory.limit_in_bytes). Inside a container the path of the group is often not
// there, and the group of the container is the root that is seen.
func groupLimits(groups, root string, read func(string) ([]byte, error)) []int64 {
	var limits []int64
	for lines := bufio.NewScanner(strings.NewReader(groups)); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		dir, file := root, "memory.max"
		switch {
		case parts[1] == "":
		case strings.Contains(","+parts[1]+",", ",memory,"):
			dir, file = path.Join(root, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			if b, err := read(path.Join(dir, at, file)); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil { // "max" is none
					limits = append(limits, n)
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return limits
}
