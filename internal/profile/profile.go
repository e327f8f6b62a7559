// Package profile says what each column of a table is like over all rows and in each group of a model: those that the model was fitted to,
// and all others.
package profile

import (
	"bytes"
	"encoding/json"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// What a column holds, as a profile takes it.
const (
	Number   = "number"
	Category = "category"
	Count    = "count"
	ID       = "id"    // names or counts the rows
	Text     = "text"  // too many different texts to be categories
	Empty    = "empty" // no cell has a value
)

// Profile is the columns of a table, those that tell the groups apart best first.
type Profile struct {
	Data    string   `json:"data"`
	Rows    int64    `json:"rows"` // of positive weight
	Counted string   `json:"rows_count_by"`
	Sampled int      `json:"quartiles_of,omitempty"` // how many rows quartiles are of, drawn at random; 0 for all, and without quartiles
	Groups  []Group  `json:"groups"`
	Noise   *Noise   `json:"noise,omitempty"` // nil where the model has none, and where there are no rows
	Columns []Column `json:"columns"`
	noun    string   // what a group is called
	medians bool     // what is told of numbers: the medians of groups, not their means
}

// Noun returns what a group is called: a group, of a merged model a cluster, and of a hidden Markov model a state.
func (p *Profile) Noun() string { return p.noun }

// nounOf returns what a label of m stands for.
func nounOf(m *model.Model) string { return kind.LabelNoun(m.IsChain(), m.Clusters != nil) }

// How rows count.
const (
	ByResponsibility = "responsibility" // for each group as much as their responsibilities
	ByLabel          = "label"          // for the likeliest group alone
)

// Group is one of the groups.
type Group struct {
	Label  int     `json:"label"`  // from 1
	Weight float64 `json:"weight"` // its mixing weight in the model; of centres its share of the rows
	Rows   float64 `json:"rows"`   // the weights of the rows, as far as they are its own
}

// Noise is the rows that lie anywhere: they are among all rows, and in no group.
type Noise struct {
	Weight float64 `json:"weight"` // its mixing weight in the model
	Rows   float64 `json:"rows"`   // the weights of the rows, as far as they are its own
}

// Column is what is told of a column.
type Column struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Date   bool   `json:"date,omitempty"`  // numbers are days since 1970-01-01
	Place  bool   `json:"place,omitempty"` // a latitude or a longitude: means are the direction of the mean point of the globe, without a standard deviation
	Fitted bool   `json:"fitted"`          // the model has it
	Known  bool   `json:"known_groups,omitempty"`
	Weight bool   `json:"row_weights,omitempty"`
	// Between is how much of the column's variance, or of its entropy, lies between the groups, from 0 to 1; nil where it has none.
	Between  *float64 `json:"between"`
	Missing  int64    `json:"missing"`  // cells without a value
	Others   int64    `json:"others"`   // cells of a column of numbers that are none: they are left out
	Distinct int64    `json:"distinct"` // different values; MostLevels+1 where there are more
	All      Cell     `json:"all"`
	Groups   []Cell   `json:"groups"`
}

// Cell is what a column is like over some rows: numbers and counts have moments, categories shares of their levels, all others nothing. All
// is nil where no row has a value.
type Cell struct {
	Mean      *float64 `json:"mean,omitempty"`
	SD        *float64 `json:"sd,omitempty"` // standard deviation, divided by the weight of the rows
	Quartiles *[3]float64
	Levels    []Level
}

// Level is a level of a category and its share of the rows that have a value.
type Level struct {
	Name  string
	Share float64
}

// MarshalJSON writes levels as an object, the most frequent over all rows first, and quartiles by their names.
func (c Cell) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	sep := byte('{')
	put := func(name string, v any) error {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		value, err := json.Marshal(v)
		b.WriteByte(sep)
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
		sep = ','
		return err
	}
	if c.Mean != nil {
		if err := put("mean", c.Mean); err != nil {
			return nil, err
		}
		if err := put("sd", c.SD); err != nil {
			return nil, err
		}
	}
	if q := c.Quartiles; q != nil {
		for i, name := range []string{"q1", "median", "q3"} {
			if err := put(name, q[i]); err != nil {
				return nil, err
			}
		}
	}
	if c.Levels != nil {
		if err := put("levels", levels(c.Levels)); err != nil {
			return nil, err
		}
	}
	if sep == '{' {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// levels is written as an object.
type levels []Level

func (l levels) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(v.Name)
		if err != nil {
			return nil, err
		}
		share, err := json.Marshal(v.Share)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(share)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
