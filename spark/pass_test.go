//go:build spark

package spark

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// TestMain serves tasks where Spark has started this program on an executor.
func TestMain(m *testing.M) {
	WorkIfAsked()
	os.Exit(m.Run())
}

// What a pass costs that does next to nothing: a first pass over rows of which there are few. Its median goes to docs/performance.md.
//
//	SPARK_HOME=... go test -tags spark ./spark -run xxx -bench Pass -benchtime 50x
//
// LATENT_MASTER names another master than local[2].
func BenchmarkPass(b *testing.B) {
	path := filepath.Join(b.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text(1000)), 0o600); err != nil {
		b.Fatal(err)
	}
	master := os.Getenv("LATENT_MASTER")
	if master == "" {
		master = "local[2]"
	}
	rows, _, err := Load(context.Background(), Config{Master: master}, Input{Paths: []string{path}}, data.Options{Missing: "model", Columns: []string{"x"}})
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var took []time.Duration
	pass := func() {
		began := time.Now()
		if _, err := sweep.LookThrough(context.Background(), rows, 1); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	for range 20 { // until the virtual machine is warm
		pass()
	}
	took = nil
	for b.Loop() {
		pass()
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-median")
	fmt.Printf("%d passes: the fastest %v, half of them below %v\n", len(took), took[0], took[len(took)/2])
}
