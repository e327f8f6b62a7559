package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/studio"
)

// hooksKey is under what a context keeps the hooks of a run.
type hooksKey struct{}

// inProcess runs a command within this process, for the studio: it is a studio.RunFunc. Standard input is empty.
func inProcess(ctx context.Context, args []string, out, errw io.Writer, hooks studio.Hooks) int {
	if hooks.Folder != "" {
		errw = &folderless{errw, []byte(hooks.Folder + string(filepath.Separator))}
	}
	return run(context.WithValue(ctx, hooksKey{}, hooks), args, strings.NewReader(""), out, errw)
}

// hooksOf returns the hooks of the run of ctx; none outside of a studio.
func hooksOf(ctx context.Context) studio.Hooks {
	h, _ := ctx.Value(hooksKey{}).(studio.Hooks)
	return h
}

// observers returns see, and beside it who else sees the steps of the run of ctx.
func observers(ctx context.Context, see latent.Observer) []latent.Observer {
	if h := hooksOf(ctx); h.Observe.Step != nil || h.Observe.Candidate != nil || h.Observe.Replicate != nil {
		return []latent.Observer{see, h.Observe}
	}
	return []latent.Observer{see}
}

// calledIn returns what a file in the folder of a studio is called; "" for one that is called by its path.
func calledIn(ctx context.Context, path string) string {
	folder := hooksOf(ctx).Folder
	if folder == "" || path == "-" || strings.HasPrefix(path, "@") {
		return ""
	}
	name, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(name) {
		return ""
	}
	return name
}

// folderless leaves the path of a folder out of what is written, a message at a time.
type folderless struct {
	to     io.Writer
	folder []byte
}

// Write implements io.Writer.
func (f *folderless) Write(b []byte) (int, error) {
	if _, err := f.to.Write(bytes.ReplaceAll(b, f.folder, nil)); err != nil {
		return 0, err
	}
	return len(b), nil
}
