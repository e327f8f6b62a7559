// Package tell says in sentences what a fit found and how far it can be trusted, so that the summary and the page use the
// same words.
package tell
