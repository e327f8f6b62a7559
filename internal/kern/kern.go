// Package kern holds the inner loops of a sweep, and those of reading text, each written once in plain Go. The Go loop is the definition; an
// assembly version may replace it without a change to any caller.
//
// The plain definitions are in bits.go, chain.go, gmm*.go, l1.go, lanes.go, nearest*.go, quantise.go, tails.go and text*.go; each calls the assembly of the level in
// use where there is some (x_amd64.go, x_arm64.go), which a generator in _asm writes (zx_amd64.s, zx_arm64.s).
//
// Kernels of a sweep work on a panel: Rows rows stored variable by variable, so that the Rows values of one variable, or of one
// component's scores, are contiguous and fill vector registers. A panel is always full; rows beyond the data have
// weight 0. Those of lanes.go and chain.go have components side by side instead, for rows that are not all treated alike or that
// follow each other. Lengths are the caller's duty: a wrong one panics.
package kern

//go:generate go -C _asm run ./bits -out ../zbits_amd64.s -stubs ../zbits_amd64.go -pkg kern
//go:generate go -C _asm run ./chain -out ../zchain_amd64.s -stubs ../zchain_amd64.go -pkg kern
//go:generate go -C _asm run ./columns -out ../zcolumns_amd64.s -stubs ../zcolumns_amd64.go -pkg kern
//go:generate go -C _asm run ./gmm -out ../zgmm_amd64.s -stubs ../zgmm_amd64.go -pkg kern
//go:generate go -C _asm run ./integers -out ../zintegers_amd64.s -stubs ../zintegers_amd64.go -pkg kern
//go:generate go -C _asm run ./l1 -out ../zl1_amd64.s -stubs ../zl1_amd64.go -pkg kern
//go:generate go -C _asm run ./lanes -out ../zlanes_amd64.s -stubs ../zlanes_amd64.go -pkg kern
//go:generate go -C _asm run ./nearest -out ../znearest_amd64.s -stubs ../znearest_amd64.go -pkg kern
//go:generate go -C _asm run ./quantise -out ../zquantise_amd64.s -stubs ../zquantise_amd64.go -pkg kern
//go:generate go -C _asm run ./text -out ../ztext_amd64.s -stubs ../ztext_amd64.go -pkg kern
//go:generate go -C _asm run ./neon

// Rows is the number of rows in a panel.
// 32 rows of 16 columns and their scores for 64 components stay within a 48 KB first-level cache.
const Rows = 32

// Lanes is the multiple to which Share, Accumulate and the kernels of lanes.go and chain.go pad the number of components, or states.
const Lanes = 8

// Pad returns k rounded up to a multiple of Lanes.
func Pad(k int) int { return (k + Lanes - 1) / Lanes * Lanes }
