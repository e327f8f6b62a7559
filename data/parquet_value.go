package data

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
)

// parquetKind is how the cells of a Parquet column are read.
type parquetKind uint8

const (
	parquetDouble parquetKind = iota
	parquetFloat
	parquetInt  // signed, 32 or 64 bits
	parquetUint // the same bits, unsigned
	parquetBool
	parquetHalf       // 2 bytes: a float of 16 bits
	parquetDecimal    // a whole number with a fixed decimal point
	parquetBigDecimal // the same in bytes, big-endian
	parquetText       // bytes: text that may spell a number, as in CSV
	parquetDate       // days; text, because a date is no measurement
	parquetTime
	parquetTimestamp
	parquetInt96 // the former timestamp
	parquetHex   // bytes of fixed number
	parquetNull  // always null
	parquetNested
)

// isNumber reports whether the cells are numbers by their type.
func (k parquetKind) isNumber() bool { return k <= parquetBigDecimal }

// Values of parquetCells.state.
const (
	isFinite   = 0
	isNull     = 1 + uint8(missingCell)
	isInfinite = 1 + uint8(infiniteCell)
	isText     = 1 + uint8(textCell)
	isRounded  = 1 + uint8(roundedCell) // a value all the same
)

// parquetCells are the cells of a page or dictionary.
type parquetCells struct {
	num     []float64 // NaN where state is neither isFinite nor isRounded
	state   []uint8   // isFinite, or the cellKind + 1
	text    []string  // nil unless text is wanted or cells are text
	rounded string    // the digits of the first number in it that float64 does not hold
}

func (p *parquetCells) reset() {
	p.num, p.state, p.text, p.rounded = p.num[:0], p.state[:0], p.text[:0], ""
}

// round marks the number that was appended last as one whose digits float64 does not hold.
func (p *parquetCells) round(digits string) {
	p.state[len(p.state)-1] = isRounded
	if p.rounded == "" {
		p.rounded = cut(digits)
	}
}

// number appends a number; text is what it is as text.
func (p *parquetCells) number(v float64) {
	s := uint8(isFinite)
	if v-v != 0 {
		s = isNull
		if v == v {
			s = isInfinite
		}
	}
	p.num, p.state = append(p.num, v), append(p.state, s)
}

// word appends a cell that is text, judged as a cell of a CSV file is.
func (p *parquetCells) word(s string, na *naTexts) {
	s = validText(s) // bytes that nobody says are UTF-8
	v, kind, ok := classify([]byte(strings.TrimSpace(s)), '.', na)
	p.num, p.text = append(p.num, v), append(p.text, s)
	if !ok {
		p.state = append(p.state, uint8(kind)+1)
		return
	}
	p.state = append(p.state, isFinite)
	if math.Abs(v) >= exactBelow && roundsDigits([]byte(strings.TrimSpace(s)), '.', v) {
		p.round(s)
	}
}

// other appends a cell that is text and no number, whatever it looks like.
func (p *parquetCells) other(s string) {
	p.num, p.state, p.text = append(p.num, math.NaN()), append(p.state, isText), append(p.text, s)
}

// appendPage appends all cells of a page that are not null.
func (p *parquetCells) appendPage(page parquet.Page, c *parquetColumn, withText bool, na *naTexts) error {
	data := page.Data()
	switch kind := data.Kind(); {
	case c.kind == parquetDouble && kind == encoding.Double:
		for _, v := range data.Double() {
			p.number(v)
			if withText {
				p.text = append(p.text, floatText(v, 64))
			}
		}
	case c.kind == parquetFloat && kind == encoding.Float:
		for _, v := range data.Float() {
			p.number(float64(v))
			if withText {
				p.text = append(p.text, floatText(float64(v), 32))
			}
		}
	case kind == encoding.Int32 && page.Type().Kind() == parquet.Int32:
		for _, v := range data.Int32() {
			p.whole(int64(v), uint64(uint32(v)), c, withText)
		}
	case kind == encoding.Int64 && page.Type().Kind() == parquet.Int64:
		for _, v := range data.Int64() {
			p.whole(v, uint64(v), c, withText)
		}
	case c.kind == parquetText && kind == encoding.ByteArray:
		all, offsets := data.ByteArray()
		s := string(all) // one allocation for the page
		for i := 1; i < len(offsets); i++ {
			p.word(s[offsets[i-1]:offsets[i]], na)
		}
	default:
		return p.appendValues(page.Values(), c, withText, na)
	}
	return nil
}

// whole appends a cell that is stored as a whole number: v signed, u unsigned.
func (p *parquetCells) whole(v int64, u uint64, c *parquetColumn, withText bool) {
	var s string
	switch c.kind {
	case parquetUint:
		p.number(float64(u))
		if !holdsUint(u) {
			p.round(strconv.FormatUint(u, 10))
		}
		if withText {
			s = strconv.FormatUint(u, 10)
		}
	case parquetDecimal:
		p.decimal(v, c.scale)
		p.roundDecimal(func() string { return decimalText(strconv.FormatInt(v, 10), c.scale) })
		if withText {
			s = decimalText(strconv.FormatInt(v, 10), c.scale)
		}
	case parquetDate:
		p.other(time.Unix(v*86400, 0).UTC().Format("2006-01-02"))
		return
	case parquetTime:
		p.other(time.Unix(0, v*int64(c.unit)).UTC().Format("15:04:05.999999999"))
		return
	case parquetTimestamp:
		p.other(timestampText(v, c.unit, c.utc))
		return
	default:
		p.number(float64(v))
		if !holdsInt(v) {
			p.round(strconv.FormatInt(v, 10))
		}
		if withText {
			s = strconv.FormatInt(v, 10)
		}
	}
	if withText {
		p.text = append(p.text, s)
	}
}

// decimal appends v / 10^scale, correctly rounded.
func (p *parquetCells) decimal(v int64, scale int) {
	if scale <= 22 && -1<<53 <= v && v <= 1<<53 { // both are exact, so the quotient is rounded once
		p.number(float64(v) / math.Pow10(scale))
		return
	}
	f, _ := strconv.ParseFloat(decimalText(strconv.FormatInt(v, 10), scale), 64) // the form is right
	p.number(f)
}

// roundDecimal marks the decimal that was appended last where it is beyond 2^53 and float64 does not hold its digits.
func (p *parquetCells) roundDecimal(digits func() string) {
	v := p.num[len(p.num)-1]
	if math.Abs(v) < exactBelow || math.IsInf(v, 0) {
		return
	}
	if s := digits(); roundsDigits([]byte(s), '.', v) {
		p.round(s)
	}
}

// decimalText puts the point of a decimal before its last scale digits.
func decimalText(digits string, scale int) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if scale == 0 {
		return sign + digits
	}
	if need := scale + 1 - len(digits); need > 0 {
		digits = strings.Repeat("0", need) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// timestampText writes v units after 1970 as ISO 8601, with a Z where it is UTC.
func timestampText(v int64, unit int, utc bool) string {
	per := int64(1e9) / int64(unit)
	s, rest := v/per, v%per
	out := time.Unix(s, rest*int64(unit)).UTC().Format("2006-01-02T15:04:05.999999999")
	if utc {
		out += "Z"
	}
	return out
}

// appendValues is appendPage for the types that are rare.
func (p *parquetCells) appendValues(r parquet.ValueReader, c *parquetColumn, withText bool, na *naTexts) error {
	var buf [256]parquet.Value
	for {
		n, err := r.ReadValues(buf[:])
		for _, v := range buf[:n] {
			if !v.IsNull() {
				p.rare(v, c, withText, na)
			}
		}
		if err != nil || n == 0 {
			return notEOF(err)
		}
	}
}

// rare appends one value.
func (p *parquetCells) rare(v parquet.Value, c *parquetColumn, withText bool, na *naTexts) {
	switch v.Kind() {
	case parquet.Boolean:
		s, f := "false", 0.0
		if v.Boolean() {
			s, f = "true", 1
		}
		p.number(f)
		if withText {
			p.text = append(p.text, s)
		}
	case parquet.Int32:
		p.whole(int64(v.Int32()), uint64(uint32(v.Int32())), c, withText)
	case parquet.Int64:
		p.whole(v.Int64(), uint64(v.Int64()), c, withText)
	case parquet.Float, parquet.Double:
		f, size := v.Double(), 64
		if v.Kind() == parquet.Float {
			f, size = float64(v.Float()), 32
		}
		p.number(f)
		if withText {
			p.text = append(p.text, floatText(f, size))
		}
	case parquet.Int96:
		p.other(int96Text(v.Int96()))
	default:
		p.bytes(v.ByteArray(), c, withText, na)
	}
}

// bytes appends a cell that is stored as bytes.
func (p *parquetCells) bytes(b []byte, c *parquetColumn, withText bool, na *naTexts) {
	switch {
	case c.kind == parquetHalf && len(b) == 2:
		f := halfFloat(binary.LittleEndian.Uint16(b))
		p.number(f)
		if withText {
			p.text = append(p.text, floatText(f, 64))
		}
	case c.kind == parquetBigDecimal:
		digits := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 { // two's complement
			digits.Sub(digits, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		s := decimalText(digits.String(), c.scale)
		f, _ := strconv.ParseFloat(s, 64) // the form is right; beyond float64 it is infinite
		p.number(f)
		p.roundDecimal(func() string { return s })
		if withText {
			p.text = append(p.text, s)
		}
	case c.kind == parquetText:
		p.word(string(b), na)
	default:
		p.other(hex.EncodeToString(b))
	}
}

// int96Text writes a timestamp of Impala's kind: nanoseconds of the day, and the Julian day.
func int96Text(v deprecated.Int96) string {
	const julian1970 = 2440588
	nanos := int64(v[0]) | int64(v[1])<<32
	return time.Unix((int64(v[2])-julian1970)*86400, 0).UTC().Add(time.Duration(nanos)).Format("2006-01-02T15:04:05.999999999")
}

// halfFloat is the value of a float of 16 bits (IEEE 754 binary16).
func halfFloat(h uint16) float64 {
	frac, exp := float64(h&0x3FF), int(h>>10&0x1F)
	var v float64
	switch {
	case exp == 0:
		v = math.Ldexp(frac, -24)
	case exp == 0x1F && frac == 0:
		v = math.Inf(1)
	case exp == 0x1F:
		return math.NaN()
	default:
		v = math.Ldexp(1024+frac, exp-25)
	}
	if h&0x8000 != 0 {
		v = -v
	}
	return v
}
