package tell

import (
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// longestTold is the mean stay, in rows, beyond which a number tells nothing of a sequence.
const longestTold = 1e6

// Stay says how many rows a stay in a state of a hidden Markov model lasts on average.
func Stay(state *model.Component) string {
	switch v := state.Stay; {
	case v == nil:
		return "never left"
	case *v > longestTold:
		return "over 1,000,000 rows"
	case *v == 1:
		return "1 row"
	default:
		return text.Significant(*v, 3) + " rows"
	}
}
