package spark

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/kern"
)

// TestServe is a worker where the environment says so: see TestMachinesThatDifferRefuse.
func TestServe(t *testing.T) {
	if os.Getenv("LATENT_TEST_WORKER") == "" {
		return
	}
	Work(os.Stdin, os.Stdout, nil)
	os.Exit(0)
}

func TestMachinesThatDifferRefuse(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^TestServe$")
	cmd.Env = append(os.Environ(), "LATENT_TEST_WORKER=1", kern.Env+"=avx1024") // kernels that no machine has
	var in bytes.Buffer
	in.WriteByte('R')
	frame(&in, []byte{readPiece})
	frame(&in, []byte("0\t0\t"))
	frame(&in, nil)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 5 || out[0] != failed || int(binary.BigEndian.Uint32(out[1:])) != len(out)-5 {
		t.Fatalf("answer %q", out)
	}
	if said := string(out[5:]); !strings.Contains(said, "has no kernels above") || !strings.Contains(said, kern.Env+"="+kern.Levels()[len(kern.Levels())-1].String()) {
		t.Errorf("it says %q", said)
	}
}
