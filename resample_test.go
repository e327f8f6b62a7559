package latent
