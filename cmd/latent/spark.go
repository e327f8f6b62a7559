package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/spark"
)

// engineFlags say where the rows are: on this machine, or on a Spark cluster.
type engineFlags struct {
	engine     string
	spark      spark.Config
	table, sql string
}

// add adds the flags.
func (e *engineFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&e.engine, "engine", "local", "where the rows are: local, or spark, where Spark reads DATA and holds its rows")
	f.StringVar(&e.spark.Master, "master", "", "with --engine spark: spark://HOST:PORT, yarn, k8s://URL or local[N]; Spark's own settings decide otherwise")
	f.StringVar(&e.spark.Submit, "spark-submit", "", "with --engine spark: the program spark-submit; in $SPARK_HOME/bin or the search path otherwise")
	f.StringArrayVar(&e.spark.Conf, "spark-conf", nil, "with --engine spark: a setting KEY=VALUE of Spark; may be given again")
	f.IntVar(&e.spark.Parts, "partitions", 0, "with --engine spark: parts of the rows, one a task; by cores and size otherwise")
	f.StringVar(&e.spark.Storage, "storage", "DISK_ONLY", "with --engine spark: where Spark keeps the numbers it has read, such as MEMORY_AND_DISK")
	f.StringVar(&e.spark.Worker, "worker-binary", "", "with --engine spark: the latent that executors run, where their system is another than this one")
	f.StringVar(&e.table, "table", "", "with --engine spark, in place of DATA: a table that Spark knows")
	f.StringVar(&e.sql, "query", "", "with --engine spark, in place of DATA: the rows of a query in SQL")
}

// addFit adds those of a fit alone.
func (e *engineFlags) addFit(cmd *cobra.Command) {
	e.add(cmd)
	f := cmd.Flags()
	f.StringVar(&e.spark.Checkpoint, "checkpoint", "", "with --engine spark: keep what every pass came to in this folder, so that a fit that was killed can go on")
	f.BoolVar(&e.spark.Resume, "resume", false, "go on with the fit in the folder of --checkpoint")
}

// on reports whether Spark holds the rows.
func (e *engineFlags) on() bool { return e.engine == "spark" }

// check refuses what does not go together.
func (e *engineFlags) check(cmd *cobra.Command) error {
	switch e.engine {
	case "local":
		for _, name := range []string{"master", "spark-submit", "spark-conf", "partitions", "storage", "worker-binary", "table", "query", "checkpoint", "resume"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s is for --engine spark", name)
			}
		}
		return nil
	case "spark":
	default:
		return usagef("--engine %q is not one of local, spark", e.engine)
	}
	if e.table != "" && e.sql != "" {
		return usagef("--table and --query both name the rows; give one of them")
	}
	if e.spark.Resume && e.spark.Checkpoint == "" {
		return usagef("--resume needs the folder to go on from: give --checkpoint DIR")
	}
	if e.spark.Parts < 0 {
		return usagef("--partitions is %d; it must be at least 1", e.spark.Parts)
	}
	for _, kv := range e.spark.Conf {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" {
			return usagef("--spark-conf %q is not KEY=VALUE", kv)
		}
	}
	return nil
}

// input wants one argument, or none where the rows are a table or a query.
func (e *engineFlags) input(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if e.on() && (e.table != "" || e.sql != "") {
			if len(args) > 0 {
				return usagef("%s takes --table, --query or %s, but both are given", cmd.Name(), what)
			}
			return nil
		}
		return atLeast(1, what)(cmd, args)
	}
}

// named returns what was given as DATA, argument number at, or what stands for it. Arguments that follow are more files of the table.
func (d *dataFlags) named(args []string, at int) string {
	e := &d.engineFlags
	switch {
	case len(args) > at:
		d.more = args[at+1:]
		return args[at]
	case e.table != "":
		return "table " + e.table
	}
	return "query"
}

// load reads DATA where it is to be read.
func (e *engineFlags) load(ctx context.Context, path string, o data.Options) (data.Source, *data.Info, error) {
	if !e.on() {
		return data.Load(ctx, path, o)
	}
	in, err := e.source(path, &o)
	if err != nil {
		return nil, nil, err
	}
	rows, info, err := spark.Load(ctx, e.spark, in, o)
	if err != nil {
		return nil, nil, err
	}
	return rows, info, nil
}

// source returns what Spark is to read.
func (e *engineFlags) source(path string, o *data.Options) (spark.Input, error) {
	in := spark.Input{Table: e.table, Query: e.sql, Format: o.Format}
	if e.table == "" && e.sql == "" {
		if path == "-" || strings.HasPrefix(path, "@") {
			return in, usagef("--engine spark reads files that all machines can reach, not %s", nameOf(path))
		}
		in.Paths = append([]string{path}, o.More...)
	}
	return in, nil
}

// serveSpark serves the tasks of an executor.
func serveSpark(in io.Reader, out, errw io.Writer) int {
	if err := spark.Work(in, out, servePiece); err != nil {
		fmt.Fprintf(errw, "latent: %s\n", err)
		return exitError
	}
	return 0
}
