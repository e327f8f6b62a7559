package main

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// demand is one --require: a key of the JSON summary, a comparison and a number.
type demand struct {
	text, key, op string
	bound         float64
}

var demandForm = regexp.MustCompile(`^\s*([a-z_]+)\s*(<=|>=|<|>)\s*(\S+)\s*$`)

// parseDemand reads a demand such as ari>0.8.
func parseDemand(s string) (demand, error) {
	m := demandForm.FindStringSubmatch(s)
	if m == nil {
		return demand{}, usagef("--require %q is not of the form ari>0.8: a key of --json, one of < <= > >=, a number", s)
	}
	bound, err := parseFloat(m[3])
	if err != nil {
		return demand{}, usagef("--require %q: %q is not a number", s, m[3])
	}
	return demand{s, m[1], m[2], bound}, nil
}

// missed returns what the result has in place of the demand, or nothing where it is met. A key that the result lacks
// is an error: a demand must not pass because it was mistyped.
func (d demand) missed(r any) (string, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	var top map[string]any
	if err := json.Unmarshal(b, &top); err != nil {
		return "", err
	}
	known := false
	for _, part := range []string{"", "truth", "certificate", "starts"} {
		keys := top
		if part != "" {
			keys, _ = top[part].(map[string]any)
		}
		value, there := keys[d.key]
		v, ok := value.(float64)
		if known = known || there && value == nil; !ok {
			continue
		}
		if map[string]bool{"<": v < d.bound, "<=": v <= d.bound, ">": v > d.bound, ">=": v >= d.bound}[d.op] {
			return "", nil
		}
		return fmt.Sprintf("%s is %v", d.key, v), nil
	}
	if known { // but null: what is not known is not met
		return d.key + " is not known", nil
	}
	return "", usagef("--require %q: this result has no number called %s", d.text, d.key)
}
