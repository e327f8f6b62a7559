// Package browsertest holds tests that open the built command's studio in a browser, as a person does: Chromium, without a window. It is a module of
// its own, so that nothing of it is needed to build or use the library.
//
// The tests need Chromium and what `npm ci` installs in ../webcheck; without either they fail. Pictures of all pages and states are written to the
// folder that LATENT_SCREENSHOTS names, with an index.html that shows them side by side.
package browsertest
