package arm64

import (
	"fmt"
	"regexp"
	"strconv"
)

// forms are the vector instructions that can be written, as Arm writes them less the numbers: registers, lanes and shifts. Each has
// its word for numbers 0 (Arm Architecture Reference Manual, C7.2).
var forms = map[string]uint32{
	"fadd v.2d, v.2d, v.2d": 0x4e60d400, "fadd v.4s, v.4s, v.4s": 0x4e20d400,
	"fsub v.2d, v.2d, v.2d": 0x4ee0d400, "fsub v.4s, v.4s, v.4s": 0x4ea0d400,
	"fmul v.2d, v.2d, v.2d": 0x6e60dc00, "fmul v.4s, v.4s, v.4s": 0x6e20dc00,
	"fmul v.2d, v.2d, v.d[]": 0x4fc09000, "fdiv v.2d, v.2d, v.2d": 0x6e60fc00, "fdiv v.4s, v.4s, v.4s": 0x6e20fc00,
	"fmla v.2d, v.2d, v.2d": 0x4e60cc00, "fmla v.4s, v.4s, v.4s": 0x4e20cc00,
	"fmla v.2d, v.2d, v.d[]": 0x4fc01000, "fmla v.4s, v.4s, v.s[]": 0x4f801000,
	"fmls v.2d, v.2d, v.2d": 0x4ee0cc00, "fmls v.2d, v.2d, v.d[]": 0x4fc05000,
	"fabd v.2d, v.2d, v.2d": 0x6ee0d400,
	"fabs v.2d, v.2d":       0x4ee0f800,
	"fneg v.2d, v.2d":       0x6ee0f800,
	"fsqrt v.2d, v.2d":      0x6ee1f800, "fsqrt v.4s, v.4s": 0x6ea1f800,
	"fmax v.2d, v.2d, v.2d": 0x4e60f400, "fmin v.2d, v.2d, v.2d": 0x4ee0f400,
	"fmaxnm v.4s, v.4s, v.4s": 0x4e20c400,
	"fminnm v.2d, v.2d, v.2d": 0x4ee0c400, "fminnm v.4s, v.4s, v.4s": 0x4ea0c400,
	"fcmeq v.2d, v.2d, v.2d": 0x4e60e400,
	"fcmge v.2d, v.2d, v.2d": 0x6e60e400, "fcmge v.4s, v.4s, v.4s": 0x6e20e400,
	"fcmgt v.2d, v.2d, v.2d": 0x6ee0e400, "fcmgt v.4s, v.4s, v.4s": 0x6ea0e400,
	"faddp v.2d, v.2d, v.2d": 0x6e60d400, "faddp v.4s, v.4s, v.4s": 0x6e20d400,
	"fcvtl v.2d, v.2s": 0x0e617800, "fcvtl2 v.2d, v.4s": 0x4e617800,
	"scvtf v.4s, v.4s": 0x4e21d800, "scvtf v.2d, v.2d": 0x4e61d800,

	"add v.2d, v.2d, v.2d": 0x4ee08400, "sub v.2d, v.2d, v.2d": 0x6ee08400, "sub v.4s, v.4s, v.4s": 0x6ea08400,
	"cmeq v.4s, v.4s, v.4s": 0x6ea08c00,
	"addv s, v.4s":          0x4eb1b800, "shl v.2d, v.2d, #": 0x4f405400, "shl v.4s, v.4s, #": 0x4f205400, "ushr v.2d, v.2d, #": 0x6f800400,
	"zip1 v.2d, v.2d, v.2d": 0x4ec03800, "zip2 v.2d, v.2d, v.2d": 0x4ec07800,
	"uzp1 v.4s, v.4s, v.4s": 0x4e801800,
	"dup v.2d, v.d[]":       0x4e080400, "dup v.4s, v.s[]": 0x4e040400,
	"sdot v.4s, v.16b, v.16b": 0x4e809400, "sdot v.4s, v.16b, v.4b[]": 0x4f80e000,

	"and v.16b, v.16b, v.16b": 0x4e201c00, "bic v.16b, v.16b, v.16b": 0x4e601c00, "orr v.16b, v.16b, v.16b": 0x4ea01c00,
	"eor v.16b, v.16b, v.16b": 0x6e201c00, "bit v.16b, v.16b, v.16b": 0x6ea01c00,
}

var (
	register = regexp.MustCompile(`\b([vs])([0-9]+)`)
	lane     = regexp.MustCompile(`\[([0-9]+)\]`)
	shift    = regexp.MustCompile(`#([0-9]+)`)
)

// encode returns the word of an instruction.
func encode(text string) (uint32, error) {
	form := shift.ReplaceAllString(lane.ReplaceAllString(register.ReplaceAllString(text, "$1"), "[]"), "#")
	word, ok := forms[form]
	if !ok {
		return 0, fmt.Errorf("arm64: no form %q of %q", form, text)
	}
	for i, r := range register.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(r[2])
		word |= uint32(n) << [...]int{0, 5, 16}[i]
	}
	if m := lane.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		switch i := uint32(n); {
		case form == "dup v.2d, v.d[]":
			word |= i << 20
		case form == "dup v.4s, v.s[]":
			word |= i << 19
		case form[len(form)-3:] == "d[]":
			word |= i << 11
		default:
			word |= i>>1<<11 | i&1<<21
		}
	}
	if m := shift.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		if form[:3] == "shl" {
			word += uint32(n) << 16 // the word says the bits of an element plus the shift
		} else {
			word -= uint32(n) << 16 // twice the bits less the shift
		}
	}
	return word, nil
}

// Do writes a vector instruction.
func (f *File) Do(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	word, err := encode(text)
	if err != nil {
		panic(err)
	}
	f.Go("WORD $0x%08x // %s", word, text)
}
