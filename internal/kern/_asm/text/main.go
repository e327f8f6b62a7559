// Command text writes the kernels that read text.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("!purego")
	decimals()
	lines()
	marks()
	Generate()
}
