package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
)

// validateFiles refuses outputs that are the input or each other, and names of formats that are not known.
func (f *segmentFlags) validateFiles(path string) error {
	if f.picture != "" && !isPNG(f.picture) {
		return usagef("%s: pictures are written as PNG, which keeps every colour as it is; give a name that ends in .png", f.picture)
	}
	for _, name := range []string{f.labels, f.palette} {
		if name == "" || name == f.labels && isPNG(name) {
			continue
		}
		if _, err := data.FormatOf(name); err != nil {
			if name == f.labels {
				err = fmt.Errorf("%w, or .png", err)
			}
			return usageError{err}
		}
	}
	var paths []string
	for _, out := range f.outputs(nil) {
		paths = append(paths, out.path)
	}
	if err := distinctFiles(append(f.spec.files(), path), paths...); err != nil {
		return err
	}
	return reachable(f.picture, f.labels, f.palette, f.out.trace)
}

func isPNG(path string) bool { return strings.EqualFold(filepath.Ext(path), ".png") }

// maskName is the file of a segment's mask. Numbers of one width keep the files in order.
func maskName(label, k int) string { return fmt.Sprintf("segment-%0*d.png", len(fmt.Sprint(k)), label) }

// outputs lists the files that were asked for; masks are those of s, and none where s is nil.
func (f *segmentFlags) outputs(s *segmented) []output {
	list := []output{{f.picture, "picture"}, {f.labels, "labels"}, {f.palette, "palette"}, {f.out.trace, "trace"}}
	folders := []string{f.mask}
	if dir := f.out.dir; dir != "" {
		for name, what := range map[string]string{"segmented.png": "picture", "labels.png": "labels", "palette.csv": "palette", "trace.csv": "trace",
			"model.json": "model", "spec.json": "spec", "index.html": "page"} {
			list = append(list, output{filepath.Join(dir, name), what})
		}
		folders = append(folders, filepath.Join(dir, "masks"))
	}
	for _, folder := range folders {
		if s == nil || folder == "" {
			continue
		}
		for _, g := range s.segments.Smallest(f.masks) {
			list = append(list, output{filepath.Join(folder, maskName(g.Label, s.K)), fmt.Sprintf("mask %d", g.Label)})
		}
	}
	return slices.DeleteFunc(list, func(out output) bool { return out.path == "" })
}

// write writes the files that were asked for: all of them or, on an error, none.
func (f *segmentFlags) write(cmd *cobra.Command, s *segmented, w *watcher) error {
	var files data.Files
	defer files.Abort() // does nothing after Commit
	folders := []string{f.mask, f.out.dir}
	if f.out.dir != "" {
		folders = append(folders, filepath.Join(f.out.dir, "masks"))
	}
	for _, folder := range folders {
		if folder == "" {
			continue
		}
		if err := files.Folder(folder); err != nil {
			return err
		}
	}
	for _, out := range f.outputs(s) {
		to, err := files.Create(out.path)
		if err != nil {
			return err
		}
		if err := f.fill(cmd, to, out, s, w); err != nil {
			return err
		}
	}
	return files.Commit()
}

// fill writes one output.
func (f *segmentFlags) fill(cmd *cobra.Command, to io.Writer, out output, s *segmented, w *watcher) error {
	switch out.what {
	case "picture":
		return s.segments.WritePNG(to)
	case "labels", "palette":
		if isPNG(out.path) {
			return s.segments.WriteMap(to)
		}
		format, err := data.FormatOf(out.path)
		if err != nil {
			return err
		}
		if out.what == "palette" {
			return s.segments.WritePalette(to, format)
		}
		return s.segments.WriteLabels(to, format)
	case "trace":
		return w.writeTrace(to)
	case "model":
		_, err := s.Model.WriteTo(to)
		return err
	case "spec":
		flags := asked(cmd)
		maps.DeleteFunc(flags, func(name string, _ any) bool { return name == "palette" || name == "masks" || name == "mask_count" })
		return printJSON(to, flags)
	case "page":
		return f.page(to, s)
	}
	var label int
	if _, err := fmt.Sscanf(out.what, "mask %d", &label); err != nil {
		return err
	}
	return s.segments.WriteMask(to, label)
}
