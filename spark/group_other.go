//go:build !unix

package spark

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills the process; where there are no groups, what it started ends when its input does.
func killGroup(c *exec.Cmd) { c.Process.Kill() }
