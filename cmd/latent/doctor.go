package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kern"
)

// checkup is what doctor prints.
type checkup struct {
	Version string   `json:"version"`
	Level   string   `json:"level"`  // of the kernels in use
	Levels  []string `json:"levels"` // that this machine has
	Threads int      `json:"threads"`
	GFLOPS  struct {
		FP32 float64 `json:"fp32"`
		FP64 float64 `json:"fp64"`
	} `json:"gflops"` // fused multiply-adds of all threads together, at the level in use
	Bandwidth float64 `json:"bandwidth_gbs"` // reading memory, all threads together, 1e9 bytes a second
}

func doctorCommand() *cobra.Command {
	var threads int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "What this machine can do: vector instructions, threads, speed",
		Long: "What this machine can do: the level of the kernels, the number of threads, and how fast these multiply and read.\n" +
			kern.Env + " forces another level: off, avx2, avx2+vnni, avx512, neon or neon+dotprod.",
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, err := checkThreads(cmd, threads)
			if err != nil {
				return err
			}
			c := examine(n)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), c)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "latent %s\nkernels: %s (this machine has %v)\nthreads: %d\nmultiply-adds: %.0f GFLOP/s in float32, %.0f in float64\nreading memory: %.0f GB/s\n",
				c.Version, c.Level, c.Levels, c.Threads, c.GFLOPS.FP32, c.GFLOPS.FP64, c.Bandwidth)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	threadsFlag(cmd, &threads)
	return cmd
}

func examine(threads int) checkup {
	c := checkup{Version: latent.Version, Level: kern.Current().String(), Threads: threads}
	for _, l := range kern.Levels() {
		c.Levels = append(c.Levels, l.String())
	}
	c.GFLOPS.FP32, c.GFLOPS.FP64 = peak(threads, true), peak(threads, false)
	c.Bandwidth = bandwidth(threads)
	return c
}

// peak adds up what all threads measure at once, in 1e9 operations a second.
func peak(threads int, float32s bool) float64 {
	each := make([]float64, threads)
	together(threads, func(i int) { each[i] = kern.PeakFlops(float32s) / 1e9 })
	sum := 0.0
	for _, v := range each {
		sum += v
	}
	return sum
}

// bandwidth reads 64 MB a thread, more than caches hold, a few times; the fastest counts.
func bandwidth(threads int) float64 {
	const panel, panels = 64 * kern.Rows, 4096
	memory := make([][]float64, threads)
	together(threads, func(i int) {
		memory[i] = make([]float64, panel*panels)
		for j := range memory[i] {
			memory[i][j] = 1
		}
	})
	best := 0.0
	for range 5 {
		began := time.Now()
		together(threads, func(i int) {
			sum := make([]float64, kern.Rows)
			for j := 0; j < len(memory[i]); j += panel {
				kern.Norms(sum, memory[i][j:j+panel], panel/kern.Rows)
			}
		})
		best = max(best, float64(threads*panel*panels*8)/time.Since(began).Seconds()/1e9)
	}
	return best
}

func together(n int, work func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { work(i) })
	}
	wg.Wait()
}
