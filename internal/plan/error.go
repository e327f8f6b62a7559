package plan

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// Error says that a field of a Spec cannot be used.
type Error struct {
	Field  string // of Spec, or the argument of a function: "NInit"
	Reason string // what is wrong with it and what is possible, in terms of fields

	flags string // the same in terms of the command's flags
}

// Error names the field and says what is wrong.
func (e *Error) Error() string { return e.Field + " " + e.Reason }

// Flags says the same in terms of the command's flags.
func (e *Error) Flags() string { return e.flags }

// Wrong returns the error of a field that cannot be used. The format is a sentence that begins after the name. It may name other
// fields as the command's flags, --n-init for NInit: the error turns these into names of fields. What the arguments hold it leaves
// as it is, but for those of type Flags.
func Wrong(field, format string, a ...any) error {
	e := &Error{Field: field, flags: flagOf(field) + " " + fmt.Sprintf(format, a...)}
	for i, v := range a {
		if f, ok := v.(Flags); ok {
			a[i] = inFields(string(f))
		}
	}
	e.Reason = fmt.Sprintf(inFields(format), a...)
	return e
}

// Flags is text that names the command's flags. As an argument of Wrong it is turned into names of fields where the error speaks of fields.
type Flags string

// Errorf is fmt.Errorf for an error that is about no single field. The format may name flags, as that of Wrong.
func Errorf(format string, a ...any) error {
	e := &advice{flags: fmt.Sprintf(format, a...)}
	for i, v := range a {
		if f, ok := v.(Flags); ok {
			a[i] = inFields(string(f))
		}
	}
	e.fields = fmt.Sprintf(inFields(format), a...)
	return e
}

// advice is an error that says what to do, in terms of fields and of flags.
type advice struct{ fields, flags string }

// Error says what is wrong and what to do in terms of fields.
func (e *advice) Error() string { return e.fields }

// Flags says the same in terms of flags.
func (e *advice) Flags() string { return e.flags }

// Flagged is an error that says the same in terms of the command's flags too.
type Flagged interface {
	error
	Flags() string
}

// FlagText returns the text of err, in terms of the command's flags where an error in its chain is Flagged.
func FlagText(err error) string {
	var e Flagged
	if errors.As(err, &e) {
		return strings.Replace(err.Error(), e.Error(), e.Flags(), 1)
	}
	return err.Error()
}

// flags maps the flags of the command to the fields of Spec, which their JSON keys name.
var flags = func() map[string]string {
	m := map[string]string{"-k": "K"}
	for f := range reflect.TypeFor[Spec]().Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "-" && f.Name != "K" && f.Name != "KRange" && f.Name != "Columns" {
			m["--"+strings.ReplaceAll(key, "_", "-")] = f.Name
		}
	}
	return m
}()

// flagOf returns the flag of a field, or of an argument that is no field.
func flagOf(field string) string {
	for flag, name := range flags {
		if name == field {
			return flag
		}
	}
	return "--" + strings.ToLower(field)
}

var (
	flagWord  = regexp.MustCompile(`--?[a-z][a-z-]*[a-z]|-k`)
	flagRange = regexp.MustCompile(`-k (LO:HI|[0-9%]\w*:[0-9%]\w*)`)
)

// inFields returns a sentence that names flags with the names of their fields.
func inFields(format string) string {
	format = flagRange.ReplaceAllString(format, "KRange $1")
	return flagWord.ReplaceAllStringFunc(format, func(flag string) string {
		if name, ok := flags[flag]; ok {
			return name
		}
		return flag
	})
}
