package plan

import (
	"math"
	"strconv"
)

// Noise says that a mixture has one more component, of constant density.
type Noise struct {
	LogVolume *float64 // logarithm of its volume in the user's units, nats; nil where the rows tell it
}

// parseNoise reads Spec.Noise; nil where there is none.
func (s *Spec) parseNoise() (*Noise, error) {
	switch s.Noise {
	case "":
		return nil, nil
	case "auto":
		return &Noise{}, nil
	}
	v, err := strconv.ParseFloat(s.Noise, 64)
	switch {
	case err != nil && math.IsInf(v, 0):
		return nil, Wrong("Noise", "is %s, more than a float64 can hold; leave the volume to auto", s.Noise)
	case err != nil || v != v:
		return nil, Wrong("Noise", "%q is neither auto nor a volume", s.Noise)
	case !(v > 0):
		return nil, Wrong("Noise", "is %s; a volume must be above 0", s.Noise)
	case math.IsInf(v, 1):
		return nil, Wrong("Noise", "is %s; a volume must be finite", s.Noise)
	}
	return &Noise{new(math.Log(v))}, nil
}

// validateNoise refuses noise that cannot be read, that the kind of model cannot have, or that another field leaves no room for.
func (p *Plan) validateNoise() error {
	if p.Spec.Noise == "" {
		return nil
	}
	if _, err := p.parseNoise(); err != nil {
		return err
	}
	switch {
	case p.Kind.Parted:
		return Wrong("Noise", "does not apply to %s: it is for numbers alone, and these columns hold categories or counts too; leave them out with --columns or --exclude", p.Kind.Name)
	case p.Kind.Tails:
		return Wrong("Noise", "does not apply to %s: its tails take rows far out; use --model gmm, or leave out --noise", p.Kind.Name)
	case !p.Kind.Noise:
		return Wrong("Noise", "does not apply to %s: it is for mixtures of numbers; use --model gmm", p.Kind.Name)
	case p.Uniform:
		return Wrong("Noise", "learns its mixing weight, which --weights uniform does not allow")
	case p.KeepSums:
		return Wrong("KeepSums", "keeps the sums of the groups alone; a model with noise cannot be updated")
	case p.Noise.LogVolume != nil && p.LRT > 0 && (p.Scaled() || p.PCA > 0):
		return Wrong("LRT", "draws rows on the scale of the fit, where --noise %s is another volume; use --noise auto", p.Spec.Noise)
	}
	return nil
}
