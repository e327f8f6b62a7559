package latent

// Version is the version of this package, written into models and results.
const Version = "0.1.0-dev"
