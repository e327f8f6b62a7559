package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
)

// input is what fit and compare work on: the rows, and the spec that the flags make with them.
type input struct {
	src  data.Source
	info *data.Info
	spec latent.Spec
	read time.Duration
}

// open turns the flags into a spec and reads the data. check is called when the flags are known, and validate when the
// spec is, before the data are read.
func (s *specFlags) open(cmd *cobra.Command, path string, d *dataFlags, check func() error, validate func(*latent.Spec) error) (*input, error) {
	if err := applyConfig(cmd, s.config); err != nil {
		return nil, err
	}
	if err := check(); err != nil {
		return nil, err
	}
	spec, how, o, err := s.wanted(cmd, d)
	if err != nil {
		return nil, err
	}
	o.Name = calledIn(cmd.Context(), path)
	how.options(cmd.Context(), path, s.labelColumn(), &o)
	if err := s.startRows(cmd.Context(), &spec, path, &o); err != nil {
		return nil, err
	}
	outline := how.outline(spec)
	if err := validate(&outline); err != nil {
		return nil, usageError{err}
	}
	d.used = o
	began := time.Now()
	src, info, err := d.load(cmd.Context(), path, o)
	if err != nil {
		return nil, withoutGaps(err, how.gaps())
	}
	if n, d := src.Shape(); n*int64(d) > manyCells {
		runtime.GC() // what reading needed serves the fit
	}
	in := &input{src, info, spec, time.Since(began)}
	if err = how.settle(in); err == nil {
		err = s.arrange(cmd.Context(), &in.spec, in.info, o)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// manyCells is how many cells a table has whose reading leaves so much memory behind that it is worth a millisecond to have it back.
const manyCells = 1 << 23

// wanted returns what the flags ask for: the spec as far as it does not depend on the data, and how the data are read.
func (s *specFlags) wanted(cmd *cobra.Command, d *dataFlags) (spec latent.Spec, how reading, o data.Options, err error) {
	if spec, err = s.spec(cmd); err != nil {
		return spec, how, o, err
	}
	changes, err := parseTransform(cmd, spec.Transform)
	if err != nil {
		return spec, how, o, err
	}
	if spec.Penalty != nil && s.init != "auto" {
		return spec, how, o, usagef("--init does not apply to --penalty, which starts from the overall mean")
	}
	if o, err = d.options(cmd, spec.Threads); err != nil {
		return spec, how, o, err
	}
	if how, err = newReading(cmd, spec.Model, s.emission, d); err != nil {
		return spec, how, o, err
	}
	if err = s.start(&spec); err == nil {
		err = how.follow(spec.Given)
	}
	if err == nil {
		err = how.inSequences(cmd)
	}
	if given := spec.Given; err == nil && how.chain && given != nil && given.IsChain() {
		err = inSequences(cmd, &o, given)
	}
	if err == nil {
		err = missing(&o, how.gaps())
	}
	if err == nil && spec.PCA > 0 && !how.chain { // no sequence is whole without its rows: the fit says what to do
		err = wholeRows(cmd, &o, "--pca")
	}
	if err == nil && spec.Algorithm == "vb" {
		err = wholeRows(cmd, &o, "--algorithm vb")
	}
	if cmd.Flags().Changed("missing") && o.Missing != "drop" {
		spec.Missing = o.Missing
	}
	if how.kind != nil && how.kind.Squared {
		o.Spare = packedCell
	}
	if o.Seed = s.seed; err == nil {
		err = how.change(changes, &o)
	}
	return spec, how, o, err
}

// wholeRows refuses missing cells where a flag has no place for them: principal components are of rows that have every cell, and so is
// variational Bayes.
func wholeRows(cmd *cobra.Command, o *data.Options, flag string) error {
	switch {
	case o.Missing != kind.Model:
		return nil
	case cmd.Flags().Changed("missing"):
		return usagef("--missing model does not apply to %s, which needs whole rows; use --missing drop", flag)
	}
	o.Missing, o.CanModel = kind.Refuse, false
	return nil
}

// withoutGaps adds to an error about a missing cell what takes such rows, where the kind of model does not.
func withoutGaps(err error, k *kind.Kind) error {
	var cell *data.Error
	if slices.Contains(k.Missing, kind.Model) || !errors.As(err, &cell) || !strings.HasPrefix(cell.Msg, "has no value here") {
		return err
	}
	return fmt.Errorf("%w; a mixture, such as --model %s, takes rows with gaps", err, kind.Gaussian.Name)
}

// missing settles what is done with missing cells where nobody says, and refuses what the kind of model cannot do.
func missing(o *data.Options, k *kind.Kind) error {
	o.CanModel = slices.Contains(k.Missing, kind.Model)
	switch {
	case o.Missing == "":
		o.Missing = k.Missing[0]
	case o.Missing != "drop" && !slices.Contains(k.Missing, o.Missing):
		return usagef("--missing %s does not apply to %s, which needs whole rows; use --missing drop, or a mixture, such as --model %s", o.Missing, k.Name, kind.Gaussian.Name)
	}
	return nil
}

// packedCell is how many bytes k-means holds a cell beside the rows, at most, if it takes more than a few passes.
const packedCell = 4

// close lets go of a file that is read in every pass.
func (in *input) close() { closeRows(in.src) }

// closeRows lets go of the file of rows that are read in every pass.
func closeRows(src data.Source) {
	if c, ok := src.(io.Closer); ok {
		c.Close()
	}
}
