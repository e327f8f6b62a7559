// Package text writes numbers and counts for readers, and words as a shell takes them: the summary, the tables, the pages and
// the messages take theirs from here, so that one number reads the same everywhere. Files and --json have every digit and do
// not use it.
package text
