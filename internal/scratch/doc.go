// Package scratch makes temporary files that only their owner can read and that are gone when they are closed.
package scratch
