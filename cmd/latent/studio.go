package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/studio"
)

// studioFlags are those of studio.
type studioFlags struct {
	port, maxUpload int
	noOpen          bool
}

func studioCommand() *cobra.Command {
	var f studioFlags
	cmd := &cobra.Command{
		Use: "studio [DATA]", Short: "Watch fits move, and fit tables and pictures, in the browser", Example: "  latent studio customers.csv",
		Long: "Serves a page on this computer alone and opens it in the browser: to watch EM climb step by step, to race algorithms, and to fit tables\n" +
			"and pictures of your own. Nothing leaves the computer. The address, with the token that lets you in, is the first line of output; Ctrl-C ends it.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("studio takes one file at most, but %q is one more", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, strings.Join(args, ""))
		},
	}
	c := cmd.Flags()
	c.IntVar(&f.port, "port", 0, "the port to listen on; 0 for one that is free")
	c.BoolVar(&f.noOpen, "no-open", false, "do not open the browser")
	c.IntVar(&f.maxUpload, "max-upload", 1000, "how many megabytes a file that is given to the page may have; the file of the command line is read in place")
	return cmd
}

// run serves the page until the context ends.
func (f *studioFlags) run(cmd *cobra.Command, file string) (err error) {
	if err := f.validate(file); err != nil {
		return err
	}
	l, err := listen(f.port)
	if err != nil {
		return err
	}
	defer l.Close()
	folder, err := os.MkdirTemp("", "latent-studio-")
	if err != nil {
		return fmt.Errorf("no temporary folder can be made: %w", err)
	}
	defer removed(folder)
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	o := studio.Options{Run: inProcess, Host: l.Addr().String(), Token: studio.NewToken(), File: file,
		MaxUpload: int64(f.maxUpload) * 1_000_000, Folder: folder, Version: latent.Version}
	if !f.noOpen {
		o.Once = studio.NewToken()
	}
	served := studio.New(ctx, o)
	address := "http://" + o.Host + map[bool]string{true: "/", false: "/data"}[file == ""] + "?token="
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), address+o.Token); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "latent studio: open the address above in a browser on this computer; Ctrl-C ends it")
	if o.Once != "" {
		if err := browse(address + o.Once); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "latent studio: the browser could not be opened: %v\n", err)
		}
	}
	return serve(ctx, l, served.Handler())
}

// validate refuses what cannot be served.
func (f *studioFlags) validate(file string) error {
	switch {
	case f.port < 0 || f.port > 65535:
		return usagef("--port is %d; it must be from 0 to 65535", f.port)
	case f.maxUpload < 1 || f.maxUpload > 1_000_000:
		return usagef("--max-upload is %d; it must be from 1 to 1000000 megabytes", f.maxUpload)
	case file == "-":
		return usagef("studio reads a file more than once, which standard input does not allow; give the name of a file")
	case file == "" || strings.HasPrefix(file, "@"):
		return nil
	}
	files, err := data.Parts(file)
	if err != nil {
		return err
	}
	for _, file := range files {
		info, err := os.Stat(file)
		var system *fs.PathError
		switch {
		case errors.As(err, &system):
			return fmt.Errorf("%s: %w", file, system.Err)
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: it is no regular file", file)
		}
	}
	return nil
}

// listen takes a port of this computer that no other can reach.
func listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	var system syscall.Errno
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is in use; give another with --port, or none for one that is free", port)
	case errors.As(err, &system):
		return nil, fmt.Errorf("port %d cannot be used: %w; give another with --port, or none for one that is free", port, system)
	}
	return nil, err
}

const (
	headerPatience = 10 * time.Second
	idlePatience   = 2 * time.Minute
	maxHeader      = 1 << 16
	farewell       = 250 * time.Millisecond // for answers under way to say that they are interrupted
)

// serve answers until the context ends.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerPatience, IdleTimeout: idlePatience, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if server.Shutdown(last) != nil {
		server.Close() // an error means that nobody is left to be told
	}
	return nil
}

// removed removes a folder into which a fit that is ending may still write.
func removed(folder string) {
	for range 5 {
		if os.RemoveAll(folder) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// browse opens an address in the browser.
func browse(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // what it says is no concern of ours
	return nil
}
