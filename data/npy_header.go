package data

import (
	"errors"
	"fmt"
	"math"
)

// npyHeader is what the text at the start of an NPY file says.
type npyHeader struct {
	descr   string // "" for a structured type
	fortran bool
	shape   []uint64
}

// parseNPYHeader reads the Python dictionary that NumPy writes:
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } and white space after it. All three keys must be
// there once, and no other.
func parseNPYHeader(b []byte) (npyHeader, error) {
	var h npyHeader
	seen := make(map[string]bool)
	p := &npyParser{b: b}
	if err := p.expect('{'); err != nil {
		return h, err
	}
	for p.peek() != '}' {
		key, err := p.str()
		if err == nil {
			err = p.expect(':')
		}
		if err == nil && seen[key] {
			err = fmt.Errorf("%q stands there twice", key)
		}
		if err != nil {
			return h, err
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr, err = p.descr()
		case "fortran_order":
			h.fortran, err = p.boolean()
		case "shape":
			h.shape, err = p.shape()
		default:
			err = fmt.Errorf("%q is not a key of it", key)
		}
		if err != nil {
			return h, err
		}
		if p.peek() != ',' {
			break
		}
		p.i++
	}
	if err := p.expect('}'); err != nil {
		return h, err
	}
	if p.peek() != 0 || p.i < len(p.b) {
		return h, errors.New("text follows after the }")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, fmt.Errorf("%q is missing", key)
		}
	}
	return h, nil
}

// npyParser is at byte i of b.
type npyParser struct {
	b []byte
	i int
}

// peek returns the next byte that is not white space, 0 at the end.
func (p *npyParser) peek() byte {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\n', '\t', '\r':
			p.i++
		default:
			return p.b[p.i]
		}
	}
	return 0
}

func (p *npyParser) expect(c byte) error {
	if p.peek() != c || p.i == len(p.b) {
		return fmt.Errorf("byte %d of its text is not %q", p.i+1, c)
	}
	p.i++
	return nil
}

// str reads a string in single or double quotes, without escapes.
func (p *npyParser) str() (string, error) {
	quote := p.peek()
	if quote != '\'' && quote != '"' {
		return "", fmt.Errorf("byte %d of its text starts no string", p.i+1)
	}
	start := p.i + 1
	for i := start; i < len(p.b); i++ {
		switch p.b[i] {
		case quote:
			p.i = i + 1
			return string(p.b[start:i]), nil
		case '\\':
			return "", errors.New("a string has a backslash")
		}
	}
	return "", errors.New("a string has no end")
}

// descr reads a type code. A list of columns with types of their own comes back as "".
func (p *npyParser) descr() (string, error) {
	if c := p.peek(); c != '[' && c != '(' {
		s, err := p.str()
		if err == nil && s == "" {
			err = errors.New("the type is empty")
		}
		return s, err
	}
	for depth := 0; p.i < len(p.b); {
		switch c := p.peek(); c {
		case '\'', '"':
			if _, err := p.str(); err != nil {
				return "", err
			}
			continue
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		}
		p.i++
		if depth == 0 {
			return "", nil
		}
	}
	return "", errors.New("the list of types has no end")
}

func (p *npyParser) boolean() (bool, error) {
	p.peek()
	for word, v := range map[string]bool{"True": true, "False": false} {
		if end := p.i + len(word); end <= len(p.b) && string(p.b[p.i:end]) == word {
			p.i = end
			return v, nil
		}
	}
	return false, errors.New("fortran_order is not True or False")
}

// shape reads a tuple of whole numbers: (), (3,) or (3, 4).
func (p *npyParser) shape() ([]uint64, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	var s []uint64
	for p.peek() != ')' {
		v, err := p.whole()
		if err != nil {
			return nil, err
		}
		s = append(s, v)
		if p.peek() != ',' {
			break
		}
		p.i++
	}
	return s, p.expect(')')
}

// whole reads a whole number. Python 2 wrote an L after some.
func (p *npyParser) whole() (uint64, error) {
	p.peek()
	start, v := p.i, uint64(0)
	for p.i < len(p.b) && p.b[p.i]-'0' <= 9 {
		if v > (math.MaxInt64-9)/10 {
			return 0, errors.New("a size is beyond any file")
		}
		v = v*10 + uint64(p.b[p.i]-'0')
		p.i++
	}
	if p.i == start {
		return 0, fmt.Errorf("byte %d of its text is not a whole number", p.i+1)
	}
	if p.i < len(p.b) && p.b[p.i] == 'L' {
		p.i++
	}
	return v, nil
}
