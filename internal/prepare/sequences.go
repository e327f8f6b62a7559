package prepare

import (
	"context"
	"fmt"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// checkSequences counts the sequences of a hidden Markov model, and refuses row weights that differ within one: a sequence counts as a whole.
func (f *Rows) checkSequences(ctx context.Context) error {
	if !f.Plan.Chain {
		return nil
	}
	if _, remote := f.Source.(data.Remote); remote {
		return plan.Wrong("Model", "%s goes through sequences in order, which is not done where rows are on other machines; read the file on this one", model.ChainKind)
	}
	last, weight, open := int32(0), 0.0, false
	return data.EachBlock(ctx, f.Source, func(b *data.Block) error {
		for i := range b.N {
			of, w := int32(0), b.Weight(i)
			if b.Sequence != nil {
				of = b.Sequence[i]
			}
			switch {
			case open && of == last && w == weight:
				continue
			case open && of == last:
				return fmt.Errorf("row %d: its weight is %s, but that of the row before in its sequence is %s; a sequence has one weight, that of all its rows",
					b.Number(i), text.Significant(w, 0), text.Significant(weight, 0))
			case open && of != last+1 || !open && of != 0:
				return fmt.Errorf("row %d: sequence %d follows sequence %d; sequences are numbered from 0 and rows of one stand together", b.Number(i), of, last)
			}
			if last, weight, open = of, w, true; w > 0 {
				f.Sequences++
			}
		}
		return nil
	})
}
