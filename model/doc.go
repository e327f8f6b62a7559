// Package model is a fitted mixture or clustering: its file, and what can be done with it. [Load] reads one, [Model.Rows] labels
// and scores rows, [Model.Sampler] draws some, [Model.Arrays] writes it for programs outside. A program that only labels rows
// needs this package and data alone; package latent fits models.
package model
