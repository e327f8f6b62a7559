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
