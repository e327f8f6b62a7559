//go:build race

package latent

const racing = true
