// Package scratch makes temporary files that only their owner can read. On Unix and Windows they are gone when they are closed.
package scratch
