package latent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzModel: whatever is in a model file, reading it gives an error or a model that can be used and written again to
// the same bytes.
func FuzzModel(f *testing.F) {
	files, _ := filepath.Glob("testdata/model/*.json")
	if len(files) == 0 {
		f.Fatal("no model files to start from")
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := new(Model)
		if json.Unmarshal(b, m) != nil {
			return
		}
		if _, _, _, err := m.mixture(); err != nil {
			t.Fatalf("a model that was read cannot be used: %v", err)
		}
		m.Result()
		var first, second bytes.Buffer
		if _, err := m.WriteTo(&first); err != nil {
			t.Fatal(err)
		}
		again := new(Model)
		if err := json.Unmarshal(first.Bytes(), again); err != nil {
			t.Fatalf("cannot be read back: %v\n%s", err, first.Bytes())
		}
		if _, err := again.WriteTo(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("written twice, two files (%v):\n%s\n%s", err, first.Bytes(), second.Bytes())
		}
	})
}
