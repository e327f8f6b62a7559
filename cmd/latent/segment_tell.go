package main

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/picture"
)

// tell prints the summary: what was found, the palette, whether it finished, and what was computed from which picture.
func (f *segmentFlags) tell(cmd *cobra.Command, s *segmented, features *picture.Features) error {
	if f.out.json {
		return printJSON(cmd.OutOrStdout(), s)
	}
	if f.out.quiet {
		return nil
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	fmt.Fprintf(out, "%s in %s.\n\n", text.Count(len(s.Segments), "segment"), text.Count(int64(s.Width)*int64(s.Height)-s.Transparent, "pixel"))
	head, lines := paletteTable(s.Segments)
	printTable(out, head, lines)
	fmt.Fprintf(out, "\n%s\n", tell.Trust(s.Result))
	warnings(out, s.Warnings)
	fmt.Fprintf(out, "\n%s\n", modelLine(s.Result))
	if s := priorLine(s.Result); s != "" {
		fmt.Fprintln(out, s)
	}
	fmt.Fprintf(out, "difference from the picture: root mean squared error %s of 255; root of the summed squares %s (mse in --json)\n", text.Short(s.RMSE), text.Short(s.MSE))
	fmt.Fprintln(out, pictureLine(s, features))
	if f.out.verbose {
		details(out, s.Result, nil)
	}
	return out.Flush()
}

// pictureLine says what was read.
func pictureLine(s *segmented, features *picture.Features) string {
	p := features.Picture
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s x %s pixels", s.Data, p.Format, text.Thousands(int64(s.Width)), text.Thousands(int64(s.Height)))
	if s.rows.Colours > 0 && s.rows.Pixels == p.Visible() {
		fmt.Fprintf(&b, ", %s", text.Count(s.rows.Colours, "colour"))
	}
	if p.Deep {
		b.WriteString(", 16 bits a sample")
	}
	if s.rows.Pixels < p.Visible() {
		fmt.Fprintf(&b, "; fitted on %s of %s pixels", text.Thousands(s.rows.Pixels), text.Thousands(p.Visible()))
	}
	if s.Transparent > 0 {
		fmt.Fprintf(&b, "; left out: %s that %s fully transparent", text.Count(s.Transparent, "pixel"), text.Form(s.Transparent, "is", "are"))
	}
	fmt.Fprintf(&b, "; by %s", strings.Join(s.Columns, ", "))
	if p.Credit != "" {
		fmt.Fprintf(&b, " (%s)", p.Credit)
	}
	return b.String()
}

// shownAtEach is how many segments are listed from each end of the palette where it is long.
const shownAtEach = 6

// paletteTable lists the segments by size, the largest first; of many only the largest and the smallest.
func paletteTable(segments []picture.Segment) (head []string, lines [][]string) {
	segments = slices.Clone(segments)
	shares := make([]float64, len(segments))
	slices.SortStableFunc(segments, func(a, b picture.Segment) int {
		return map[bool]int{true: -1, false: 1}[a.Pixels > b.Pixels || a.Pixels == b.Pixels && a.Label < b.Label]
	})
	for i, g := range segments {
		shares[i] = g.Share
	}
	told := text.Percents(shares, 2)
	for i, g := range segments {
		if n := len(segments); n > 3*shownAtEach && i >= shownAtEach && i < n-shownAtEach {
			if i == shownAtEach {
				lines = append(lines, []string{"...", "", "", "", "", "", ""})
			}
			continue
		}
		lines = append(lines, []string{strconv.Itoa(g.Label), text.Thousands(g.Pixels), told[i], g.Hex(),
			fmt.Sprintf("%.1f", g.Color[0]), fmt.Sprintf("%.1f", g.Color[1]), fmt.Sprintf("%.1f", g.Color[2])})
	}
	return []string{"segment", "pixels", "share", "colour", "red", "green", "blue"}, lines
}
