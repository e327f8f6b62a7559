//go:build !race

package latent

// racing reports whether the race detector is on.
const racing = false
