package studio

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent"
)

// Every key of a spec is a flag of the command that a run is told by, or is told in another way: nothing that was asked for is left out.
func TestEveryKeyOfASpecIsToldAsAFlag(t *testing.T) {
	otherwise := []string{"k", "k_range", "column_names"} // -k, and what a page has no use for
	spec := reflect.TypeFor[latent.Spec]()
	for i := range spec.NumField() {
		key, _, _ := strings.Cut(spec.Field(i).Tag.Get("json"), ",")
		if key != "-" && !slices.Contains(specFlags, key) && !slices.Contains(otherwise, key) {
			t.Errorf("%s is in no command", key)
		}
	}
}

// A run of rows in time is refused before anything is read.
func TestHiddenMarkovModelsAreForTheCommand(t *testing.T) {
	err := (&asked{Spec: latent.Spec{Model: "hmm", K: 2}}).settle()
	if err == nil || !strings.Contains(err.Error(), "use latent fit --model hmm, and latent report") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}
