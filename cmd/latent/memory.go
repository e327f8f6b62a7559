package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
)

// memoryFlag is how much memory reading may take, in bytes: a number and a unit. 0 is half of the machine's memory.
type memoryFlag int64

// memoryUnits are the factors of the units: those of 1,024 by one letter or with an i, those of 1,000 with a B alone.
var memoryUnits = map[string]float64{
	"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
}

// leastMemory is the smallest limit: a pipe is read in parts of this size.
const leastMemory = 1 << 20

// Set implements pflag.Value.
func (m *memoryFlag) Set(s string) error {
	number := strings.TrimRight(strings.TrimSpace(s), "bBiIkKmMgGtT ")
	unit, known := memoryUnits[strings.ToLower(strings.TrimSpace(strings.TrimSpace(s)[len(number):]))]
	v, err := parseFloat(number)
	switch bytes := v * unit; {
	case err != nil || !known || math.IsNaN(bytes) || math.IsInf(bytes, 0):
		return fmt.Errorf("it must be a size such as 500M, 4G or 1.5T")
	case bytes < leastMemory:
		return fmt.Errorf("it must be at least 1M")
	default:
		*m = memoryFlag(min(bytes, math.MaxInt64/2))
	}
	return nil
}

// String implements pflag.Value.
func (m *memoryFlag) String() string {
	if *m == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*m), 10)
}

// Type implements pflag.Value: the word for the value in the list of flags.
func (m *memoryFlag) Type() string { return "size" }

func (m *memoryFlag) add(cmd *cobra.Command) {
	cmd.Flags().Var(m, "max-memory", "how much memory reading may take, such as 500M or 4G (half of this machine's memory)")
}

// ways says what a user may do about an error of memory, by the flags that the command has.
func ways(cmd *cobra.Command, e *data.MemoryError) string {
	help := []string{"stream", "limit"}
	if e.What != "" && !strings.HasSuffix(e.What, " pixels") { // rows, not what they are read from
		help = append(help, "sample", "float32")
	}
	var have []string
	for _, name := range help {
		if f := cmd.Flags().Lookup(name); f != nil && !f.Changed && !(name == "stream" && e.Stream) {
			have = append(have, "--"+name)
		}
	}
	more := "; allow more with --max-memory"
	if len(have) > 0 {
		more += ", or use " + strings.Join(have, ", ")
	}
	return more
}
