// Command latent finds the groups in a table of numbers, categories and counts: mixtures and k-means from CSV, Parquet, NPY or IDX.
//
//	latent fit customers.csv -k 4
//
// Results go to standard output, everything else to standard error. The exit status is 0 when done and converged, 1
// on an error, 2 on wrong usage, 3 when done but not converged, 4 when a demand is missed and 130 when interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/spark"
)

// Exit statuses.
const (
	exitError       = 1
	exitUsage       = 2
	exitUnfinished  = 3
	exitMissed      = 4
	exitInterrupted = 130
)

// ballast is how many bytes lie idle so that the collector does not run at every few MB of garbage: a choice on a small table
// makes thousands of short-lived vectors beside almost nothing that lives, and spent half of its time there. Nobody touches
// them: they take addresses, and no memory.
const ballast = 32 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends at once
	idle := make([]byte, ballast)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(idle)
	os.Exit(status)
}

// interrupts lists the signals that end a fit with what it has so far: Ctrl-C, a request to end, and a terminal that
// closes. Where the last is ignored from the start, as under nohup, it stays ignored.
func interrupts() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// run is the command without the process around it: it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	if len(args) == 1 && args[0] == spark.Command {
		return serveSpark(in, out, errw)
	}
	if err := kern.Err(); err != nil {
		fmt.Fprintf(errw, "latent: %s\n", err)
		return exitUsage
	}
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd() // after SetOut: it writes where root wrote when it was made
	for _, cmd := range root.Commands() {
		strict(cmd)
	}
	cmd, err := root, misnamed(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(errw, "latent: interrupted before there was a result; nothing was written")
		return exitInterrupted
	}
	if text, wrong := writing(err); wrong {
		fmt.Fprintf(errw, "latent: %s\n", text)
		return exitError
	}
	var memory *data.MemoryError
	if errors.As(err, &memory) {
		fmt.Fprintf(errw, "latent: %s%s\n", err, ways(cmd, memory))
		return exitError
	}
	fmt.Fprintf(errw, "latent: %s\n", inFlags(err))
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitError
}

// writing says what went wrong when an output was written, if that is what err is about: the reader of the rows that were to
// be written has no part in it.
func writing(err error) (text string, wrong bool) {
	var output *data.WriteError
	if errors.As(err, &output) {
		return output.Error(), true
	}
	var system *fs.PathError
	if errors.As(err, &system) && system.Op == "write" {
		name := system.Path
		if name == os.Stdout.Name() {
			name = "standard output"
		}
		return fmt.Sprintf("%s: %v", name, system.Err), true
	}
	return "", false
}

// exitStatus ends the command with a status after all has been said.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// inFlags returns what an error says, in terms of flags where it has such words.
func inFlags(err error) string {
	var field interface {
		error
		Flags() string
	}
	if errors.As(err, &field) {
		return strings.Replace(err.Error(), field.Error(), field.Flags(), 1)
	}
	return err.Error()
}

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "latent",
		Short: "Find the groups in data",
		Long: "latent finds the groups in a table, says how sure it is, and says whether it has really finished.\n\n" +
			"  latent fit customers.csv -k 4            fit a mixture and print a summary\n" +
			"  latent fit @iris -k 3 --model kmeans     k-means on a built-in set\n" +
			"  latent check customers.csv               what would be read; nothing is fitted",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       latent.Version,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("latent {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	root.SetGlobalNormalizationFunc(normalise)
	root.AddCommand(fitCommand(), segmentCommand(), compareCommand(), experimentCommand(), labelCommand(), scoreCommand(), forecastCommand(), profileCommand(), imputeCommand(), mergeCommand(), updateCommand(), sampleCommand(), showCommand(), exportCommand(), reportCommand(), studioCommand(), checkCommand(), datasetsCommand(), doctorCommand(), versionCommand())
	plainNumbers(root)
	return root
}

// strict makes cobra's own commands refuse words they do not know, where they would print help and exit with 0.
func strict(cmd *cobra.Command) {
	switch cmd.Name() {
	case "completion":
		cmd.Args = func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("completion for %q is not known; choose one of bash, zsh, fish, powershell", args[0])
			}
			return nil
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	case "help":
		cmd.Args = func(help *cobra.Command, args []string) error {
			if found, _, err := help.Root().Find(args); len(args) > 0 && (err != nil || found == help.Root()) {
				return noCommand(help.Root(), args[0])
			}
			return nil
		}
	}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "latent %s\n", latent.Version)
			return err
		},
	}
}

// exactly asks for n arguments and says which.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return usagef("%s needs %s, such as: %s", cmd.Name(), what, strings.TrimSpace(cmd.Example))
		case len(args) > n:
			return usagef("%s takes %s, but %q is one more", cmd.Name(), text.Count(n, "argument"), args[n])
		}
		return nil
	}
}

// atLeast asks for n arguments, of which the last is a table, and says which; what follows them are further files of the table.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for i := n - 1; i < len(args) && len(args) > n; i++ {
			if args[i] == "-" || strings.HasPrefix(args[i], "@") {
				return usagef("%s cannot be one of several files of a table; save it as a file first", nameOf(args[i]))
			}
		}
		return exactly(n, what)(cmd, args[:min(n, len(args))])
	}
}

// flagError makes one plain line of a flag that could not be read.
func flagError(cmd *cobra.Command, err error) error {
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "unknown flag: --"); ok {
		msg = "unknown flag --" + name
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := data.Nearest(name, names, 1); len(near) > 0 {
			msg += "; the nearest flag is --" + near[0]
		}
	}
	// pflag: invalid argument "abc" for "--seed" flag: it must be a whole number, at least 0
	if rest, ok := strings.CutPrefix(msg, "invalid argument "); ok {
		if value, rest, ok := strings.Cut(rest, " for "); ok {
			name, why, _ := strings.Cut(rest, " flag: ")
			name = strings.Trim(name, `"`)
			if strings.HasPrefix(why, "strconv.") { // flags of numbers say what they take; the others are switches
				why = "it must be true or false"
			}
			msg = fmt.Sprintf("%s cannot be %s: %s", name, value, why)
		}
	}
	return usageError{errors.New(msg)}
}
