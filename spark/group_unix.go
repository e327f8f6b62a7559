//go:build unix

package spark

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a process and what it starts a group of their own, so that an interrupt at the terminal does not reach them.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills what is left of it.
func killGroup(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
