package data

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestMoreColumnsThanMemory: a first line of signs alone is refused before it is cut into cells, by its number of columns,
// whichever sign stands between them. Signs inside quotes are no columns.
func TestMoreColumnsThanMemory(t *testing.T) {
	const columns, most = 300_000, 64 << 20 // of which 65,536 are held
	for _, sign := range []string{",", ";", "\t", "|"} {
		text := strings.Repeat(sign, columns-1) + "\n1" + strings.Repeat(sign, columns-1) + "\n"
		for _, o := range []Options{{MaxMemory: most}, {MaxMemory: most, Delimiter: sign}, {MaxMemory: most, Header: "no"}} {
			h, err := readHead(strings.NewReader(text), int64(len(text)), "wide.csv")
			if err != nil {
				t.Fatal(err)
			}
			var e *MemoryError
			if _, err := detect(h, o); !errors.As(err, &e) || e.What != "300,000 columns" || e.Max != most {
				t.Errorf("%q, %+v: got %v", sign, o, err)
			}
		}
	}
	quoted := "x,\"" + strings.Repeat(",", columns) + "\"\n1,2\n3,4\n"
	if _, info, err := Load(context.Background(), write(t, "t.csv", quoted), Options{MaxMemory: most}); err != nil || len(info.Columns) != 2 {
		t.Errorf("signs inside quotes: %v", err)
	}
}
