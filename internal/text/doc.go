// Package text writes numbers and counts for readers: the summary, the tables and the pages take theirs from here, so that
// one number reads the same everywhere. Files and --json have every digit and do not use it.
package text
