// Package transit turns values into bytes that are sent to another machine, and back, by encoding/gob.
package transit

import (
	"bytes"
	"encoding/gob"
	"fmt"
)

// Encode returns the bytes of v, whose types must be exported or register themselves with gob.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("what cannot be sent to another machine: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads v, a pointer, from bytes that Encode made.
func Decode(b []byte, v any) error {
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(v); err != nil {
		return fmt.Errorf("what another machine sent cannot be read: %w", err)
	}
	return nil
}
