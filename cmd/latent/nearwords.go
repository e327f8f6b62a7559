package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/internal/text"
)

// otherWords lists, by command, what other programs and people call what it does. A word under several commands leads to all of them.
var otherWords = map[string][]string{
	"fit":        {"cluster", "clusters", "clustering", "train", "learn", "estimate", "group", "groups", "mixture", "gmm", "kmeans", "k-means", "em", "fit_predict", "hmm", "update", "partial-fit", "partial_fit", "resume"},
	"label":      {"decode", "viterbi", "predict", "predict_proba", "assign", "classify", "apply", "infer", "transform"},
	"score":      {"evaluate", "eval", "metrics", "metric", "validate", "validation", "outliers", "outlier", "anomaly", "anomalies", "silhouette", "density", "loglik", "score_samples"},
	"forecast":   {"ahead", "extrapolate", "project", "future", "hmm"},
	"impute":     {"fill", "fillna", "complete", "gaps", "interpolate"},
	"sample":     {"generate", "draw", "simulate", "synthesize", "random"},
	"show":       {"plot", "draw", "describe", "summary", "summarise", "summarize", "print", "view", "inspect", "info"},
	"report":     {"plot", "page", "html", "chart", "visualise", "visualize"},
	"profile":    {"describe", "summary", "summarise", "summarize", "means", "characterise", "characterize"},
	"merge":      {"combine", "join", "clustcombi", "mergenormals", "dendrogram"},
	"segment":    {"cut", "palette", "quantize", "quantise", "posterize", "posterise", "colors", "colours", "image"},
	"compare":    {"benchmark", "bench", "versus", "vs"},
	"doctor":     {"benchmark", "bench", "diagnose", "machine"},
	"check":      {"validate", "validation", "look", "head", "preview", "columns", "types", "read"},
	"export":     {"save", "dump", "convert", "write"},
	"experiment": {"reproduce", "replicate", "repeat", "paper"},
	"datasets":   {"dataset", "data", "sets", "examples", "list"},
}

// meant returns the commands that a word which is none may stand for: by what it says, or else by its spelling.
func meant(root *cobra.Command, word string) (near []*cobra.Command) {
	for _, cmd := range root.Commands() {
		if slices.ContainsFunc(otherWords[cmd.Name()], func(other string) bool { return strings.EqualFold(other, word) }) {
			near = append(near, cmd)
		}
	}
	if near != nil {
		return near
	}
	root.SuggestionsMinimumDistance = 2
	for _, name := range root.SuggestionsFor(word) {
		if cmd, _, err := root.Find([]string{name}); err == nil {
			near = append(near, cmd)
		}
	}
	return near
}

// noCommand is the error about a word in the place of a command.
func noCommand(root *cobra.Command, word string) error {
	var near []string
	for _, cmd := range meant(root, word) {
		what, _, _ := strings.Cut(cmd.Short, ". ")
		near = append(near, cmd.Name()+": "+lowered(what)+" (latent "+cmd.Use+")")
	}
	word = text.ShellWord(word)
	if near == nil {
		return usagef("there is no command %s; latent help lists the commands", word)
	}
	return usagef("there is no command %s; did you mean %s", word, strings.Join(near, ", or "))
}

// lowered begins a sentence with a small letter, for its place inside another.
func lowered(sentence string) string {
	return strings.ToLower(sentence[:1]) + sentence[1:]
}

// misnamed returns the error about the first of the arguments, where a command is expected, or nil. It comes before flags are read, which
// only a command can know.
func misnamed(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil
	}
	if found, _, _ := root.Find(args[:1]); found != root {
		return nil
	}
	return noCommand(root, args[0])
}
