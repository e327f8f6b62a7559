package spark

import (
	"encoding/binary"
	"fmt"
	"io"
)

// frame writes bytes after their number.
func frame(w io.Writer, b []byte) error {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(b)))
	if _, err := w.Write(n[:]); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// readFrame reads what frame wrote.
func readFrame(r io.Reader) ([]byte, error) {
	n, err := readInt(r)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}

func readInt(r io.Reader) (int32, error) {
	var n [4]byte
	_, err := io.ReadFull(r, n[:])
	return int32(binary.BigEndian.Uint32(n[:])), err
}
