package main

import (
	"io"
	"slices"
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
	spec, err := s.spec(cmd)
	if err != nil {
		return nil, err
	}
	if spec.Penalty != nil && s.init != "auto" {
		return nil, usagef("--init does not apply to --penalty, which starts from the overall mean")
	}
	o, err := d.options(cmd, spec.Threads)
	if err != nil {
		return nil, err
	}
	r, err := s.reading(cmd, &spec, d)
	if err != nil {
		return nil, err
	}
	o.Seed = s.seed
	if err := missing(&o, r.gaps()); err != nil {
		return nil, err
	}
	if f := cmd.Flags().Lookup("missing"); f.Changed && o.Missing != "drop" {
		spec.Missing = o.Missing
	}
	if r.kind != nil && r.kind.Squared {
		o.Spare = packedCell
	}
	r.options(cmd.Context(), path, &o)
	if err := s.start(cmd.Context(), &spec, path, &o); err != nil {
		return nil, err
	}
	outline := r.outline(spec)
	if err := validate(&outline); err != nil {
		return nil, usageError{err}
	}
	d.used = o
	began := time.Now()
	src, info, err := data.Load(cmd.Context(), path, o)
	if err != nil {
		return nil, err
	}
	in := &input{src, info, spec, time.Since(began)}
	err = r.settle(&in.spec, info)
	if err == nil {
		err = s.arrange(cmd.Context(), &in.spec, info, o)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// reading returns how the columns are read.
func (s *specFlags) reading(cmd *cobra.Command, spec *latent.Spec, d *dataFlags) (reading, error) {
	var types []string
	if cmd.Flags().Changed("types") {
		types = append([]string{}, d.types...)
	}
	return newReading(spec.Model, types)
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
func (in *input) close() {
	if c, ok := in.src.(io.Closer); ok {
		c.Close()
	}
}
