// Command neon writes the assembly of all kernels for arm64 to the directory above.
package main

import (
	"log"

	"github.com/latent-go/latent/internal/kern/_asm/arm64"
)

func main() {
	for name, write := range map[string]func(a *asm){"bits": bits, "gmm": gmm, "l1": l1, "lanes": lanes, "nearest": nearest} {
		f := arm64.NewFile(name)
		write(&asm{f})
		if err := f.Write(".."); err != nil {
			log.Fatal(err)
		}
	}
}

// asm is a file of assembly and what the kernels of several files share.
type asm struct{ *arm64.File }

// nearest writes the kernels of nearest.go and nearest_bounds.go.
func nearest(a *asm) {
	for w := 1; w <= denseWidth; w++ {
		a.dense(w)
		a.bytes(w)
	}
	a.survivors()
	a.runnerUp()
	a.due()
	a.slack()
	a.all("sqdist", "SqdistAll", a.squared)
	a.all("sqdistFused", "SqdistFused", a.fused)
	a.least(false)
	a.least(true)
	a.sqdistRow()
	a.dots()
	for _, wide := range []bool{false, true} {
		a.pairs(wide)
		a.scatter(wide)
	}
	a.shift()
}

// gmm writes the kernels of gmm*.go and tails.go.
func gmm(a *asm) {
	a.peak(64)
	a.peak(32)
	a.products()
	a.squares()
	a.present()
	a.centre()
	a.norms()
	a.multiply()
	a.whitened()
	a.scored("ellipses", "Ellipses", "mean, scale", []string{"mean", "scale"}, &distances{vectors: 8, term: a.scaled}, "")
	a.scored("spheres", "Spheres", "mean, f", []string{"mean"}, &distances{vectors: 8, term: a.fused}, "f")
	a.scored("masked", "MaskedEllipses", "mask, mean, scale, add", []string{"mean", "scale", "add"},
		&distances{vectors: 4, term: a.counted, mask: make([]reg, 1)}, "")
	a.accumulate()
	a.few()
	a.tally()
	a.largest()
	a.soften()
	a.logSumExp()
	a.argmax()
	a.share()
	a.tails()
	a.weigh()
	a.pack(8)
	a.pack(4)
}
