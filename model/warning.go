package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Warning is what the reader of a result should know. In JSON it is its text.
type Warning struct {
	Code      Code
	Component int    // the label of the component that it is about, from 1; 0 where it is about none, or several
	Column    string // the name of the column that it is about; empty where it is about none, or several
	Text      string
}

// Code says what a warning is about.
type Code string

// The codes of warnings. Those of OtherWarning have none: they are what reading the data found out, and what was read from a file.
const (
	OtherWarning  Code = ""
	Unfinished    Code = "unfinished"     // the fit has not finished
	Interrupted   Code = "interrupted"    // it was interrupted
	PartRead      Code = "part_read"      // only a part of the rows was read
	AtFloor       Code = "at_floor"       // a component is at the floor of variances
	Heywood       Code = "heywood"        // the factors determine columns: their uniquenesses are at the floor
	Narrow        Code = "narrow"         // one of few rows is narrower than values are told apart
	FewRows       Code = "few_rows"       // one holds fewer rows than a covariance of its own takes
	Collinear     Code = "collinear"      // columns determine others
	NeverTogether Code = "never_together" // no row has a value in both of two columns
	Undetermined  Code = "undetermined"   // the rows do not determine all parameters
	Certain       Code = "certain"        // probabilities, or the like, are at an end of their range
	Unfollowed    Code = "unfollowed"     // no row tells what follows a state of a chain
	Empty         Code = "empty"          // components have no rows
	MuchNoise     Code = "much_noise"     // more than half of the weight is noise
	Absent        Code = "absent"         // components of a given start have weight 0
	Raised        Code = "raised"         // covariances of a given start lay below the floor
	FewValues     Code = "few_values"     // columns have few distinct values
	OneColumn     Code = "one_column"     // one column makes almost all of the distances
	WeightsOff    Code = "weights"        // row weights are far from 1 on average
	NoCertificate Code = "no_certificate" // nothing is climbed, so no distance can be told
	TruthGaps     Code = "truth_gaps"     // rows have no value in the column of known groups
	ManyClasses   Code = "many_classes"   // the known groups are too many for a table
	OtherRows     Code = "other_rows"     // the rows of an update are not like those before
	NotMerged     Code = "not_merged"     // there are too few components to merge as was asked
	RowsChanged   Code = "rows_changed"   // the data changed while they were read
)

// openings are how the texts begin of the codes that the reader of a file needs again: a file holds no codes.
var openings = map[Code]string{Unfinished: "not finished", Interrupted: "interrupted", PartRead: "read "}

// Warn returns a warning of a code. Of a code whose texts have a fixed beginning the format is the rest.
func Warn(code Code, format string, a ...any) Warning {
	return Warning{Code: code, Text: openings[code] + fmt.Sprintf(format, a...)}
}

// String returns the text.
func (w Warning) String() string { return w.Text }

// MarshalJSON writes the text.
func (w Warning) MarshalJSON() ([]byte, error) { return json.Marshal(w.Text) }

// UnmarshalJSON reads a text.
func (w *Warning) UnmarshalJSON(b []byte) error {
	*w = Warning{}
	if err := json.Unmarshal(b, &w.Text); err != nil {
		return err
	}
	for code, opening := range openings {
		if strings.HasPrefix(w.Text, opening) {
			w.Code = code
		}
	}
	return nil
}
