package data

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// systemMemory returns the memory of the machine in bytes, if it is known.
func systemMemory() []int64 {
	var status struct { // MEMORYSTATUSEX
		length, load     uint32
		total, available uint64
		others           [5]uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return nil
	}
	return []int64{int64(status.total)}
}
