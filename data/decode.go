package data

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// decode sets dst[i*ds] to the cell at b[i*bs], for i below n. Integers beyond 2^53 are rounded to the nearest
// float64, as Go converts them.
func decode(dst []float64, ds int, b []byte, bs, n int, cell scalar, big bool) {
	if n == 0 {
		return
	}
	switch {
	case cell == float64Cell && !big:
		for i := range n {
			dst[i*ds] = math.Float64frombits(binary.LittleEndian.Uint64(b[i*bs:]))
		}
	case cell == float32Cell && !big:
		for i := range n {
			dst[i*ds] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i*bs:])))
		}
	case cell == uint8Cell:
		for i := range n {
			dst[i*ds] = float64(b[i*bs])
		}
	default:
		size := cell.size()
		for i := range n {
			dst[i*ds] = value(bitsOf(b[i*bs:i*bs+size], big), cell)
		}
	}
}

// bitsOf reads 1, 2, 4 or 8 bytes as an unsigned number.
func bitsOf(b []byte, big bool) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		v := binary.LittleEndian.Uint16(b)
		if big {
			v = bits.ReverseBytes16(v)
		}
		return uint64(v)
	case 4:
		v := binary.LittleEndian.Uint32(b)
		if big {
			v = bits.ReverseBytes32(v)
		}
		return uint64(v)
	}
	v := binary.LittleEndian.Uint64(b)
	if big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// value is the number that the bits of a cell mean.
func value(v uint64, cell scalar) float64 {
	switch cell {
	case float64Cell:
		return math.Float64frombits(v)
	case float32Cell:
		return float64(math.Float32frombits(uint32(v)))
	case int8Cell:
		return float64(int8(v))
	case int16Cell:
		return float64(int16(v))
	case int32Cell:
		return float64(int32(v))
	case int64Cell:
		return float64(int64(v))
	case boolCell:
		if v != 0 {
			return 1
		}
		return 0
	}
	return float64(v)
}

// cellText writes a cell: integers in full, others as the shortest text that gives back the same value; nothing for
// NaN, which is a missing cell.
func cellText(b []byte, cell scalar, big bool) string {
	v := bitsOf(b, big)
	switch cell {
	case float64Cell:
		return floatText(math.Float64frombits(v), 64)
	case float32Cell:
		return floatText(float64(math.Float32frombits(uint32(v))), 32)
	case uint8Cell, uint16Cell, uint32Cell, uint64Cell:
		return strconv.FormatUint(v, 10)
	case int64Cell:
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatInt(int64(value(v, cell)), 10)
}

// floatText writes v as appendFloat does; NaN is no text.
func floatText(v float64, bitSize int) string {
	if v != v {
		return ""
	}
	var b [32]byte
	return string(appendFloat(b[:0], v, bitSize))
}

// appendFloat appends the shortest text that gives back v, without an exponent where people write none.
func appendFloat(b []byte, v float64, bitSize int) []byte {
	if whole := int64(v); bitSize == 64 && float64(whole) == v && -1e15 < v && v < 1e15 && (whole != 0 || !math.Signbit(v)) {
		return strconv.AppendInt(b, whole, 10) // the same digits, found sooner
	}
	if a := math.Abs(v); a == 0 || 1e-4 <= a && a < 1e15 {
		return strconv.AppendFloat(b, v, 'f', -1, bitSize)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bitSize)
}

// allFinite reports whether no value is NaN or infinite.
func allFinite(s []float64) bool {
	var sum float64 // v-v is 0 for finite values and NaN for all others
	for _, v := range s {
		sum += v - v
	}
	return sum == 0
}

// badNumber is the badCell of a number that is not finite.
func badNumber(row int64, column int, v float64) badCell {
	c := badCell{Row: row, Column: column, Kind: missingCell, Value: "nan"}
	if math.IsInf(v, 0) {
		c.Kind, c.Value = infiniteCell, "inf"
		if v < 0 {
			c.Value = "-inf"
		}
	}
	return c
}

// sortBad puts cells that were found column by column in row order.
func sortBad(bad []badCell) {
	slices.SortFunc(bad, func(a, b badCell) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Column, b.Column))
	})
}
