package studio

import (
	"bytes"
	"fmt"
	"go/format"
	"strconv"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
)

// program returns the Go code that repeats a run. The rows are read as the run has read them, with the columns that it has fitted named. n.mu is held.
func (n *run) program() string {
	m, kd := n.result.Model, kind.Of(n.result.ComponentKind())
	column, labelled := strings.CutPrefix(n.asked.Spec.Init, "labels:")
	name, more := typed(n.file.Name, n.file.Path), ""
	if labelled {
		more = "\t\"slices\"\n"
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"log\"\n" + more + "\n\t\"github.com/latent-go/latent\"\n\t\"github.com/latent-go/latent/data\"\n)\n\nfunc main() {\n\tctx := context.Background()\n")
	load := func(what, file, options string) {
		fmt.Fprintf(&b, "\t%s, err := data.Load(ctx, %q, data.Options{%s})\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n", what, file, options)
	}
	load("src, info", name, n.reading(kd, n.read.Truth))
	if n.asked.Spec.Init == "centers:"+centersFile {
		load("centers, _", centersFile, "Exact: info.Features")
		b.WriteString("\tstart := centers.(*data.Table)\n\tvar rows [][]float64\n\tfor i := range start.N {\n\t\trow := make([]float64, start.D)\n\t\tstart.Rows(row, []int64{int64(i)})\n\t\trows = append(rows, row)\n\t}\n")
	}
	if labelled {
		load("known, _", name, n.reading(kd, column))
		b.WriteString("\twords := known.(*data.Table).Truth\n\tnames := slices.Compact(slices.Sorted(slices.Values(words)))\n\tlabels := make([]int32, len(words))\n\tfor i, word := range words {\n\t\tat, _ := slices.BinarySearch(names, word)\n\t\tlabels[i] = int32(at)\n\t}\n")
	}
	fmt.Fprintf(&b, "\tr, err := latent.Fit(ctx, src, latent.Spec{%s})\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n", n.specCode(kd))
	if m.HasDensity() {
		b.WriteString("\tfmt.Println(*r.LogLik)\n}\n")
	} else {
		b.WriteString("\tfmt.Println(*r.Inertia)\n}\n")
	}
	code, err := format.Source([]byte(b.String()))
	if err != nil {
		return "// this is a fault of latent studio: " + err.Error()
	}
	return string(bytes.TrimSpace(code)) + "\n"
}

// reading returns the options by which a program reads the rows of a run, with the column truth.
func (n *run) reading(kd *kind.Kind, truth string) string {
	o, info := &n.read, n.info
	fields := []string{fmt.Sprintf("Exact: %#v", info.Features)}
	switch {
	case kd.Parted:
		var types []string
		for _, t := range info.Types {
			types = append(types, typeWords[t])
		}
		fields = append(fields, "Mixed: true", "ExactTypes: []data.Type{"+strings.Join(types, ", ")+"}")
	case kd.Cells.Levels:
		fields = append(fields, "Categories: true")
	}
	for _, w := range []struct{ field, value string }{{"ID", o.ID}, {"Weight", o.Weight}, {"Truth", truth}, {"Missing", o.Missing}} {
		if w.value != "" {
			fields = append(fields, fmt.Sprintf("%s: %q", w.field, w.value))
		}
	}
	if len(o.Dates) > 0 {
		fields = append(fields, "Dates: "+fmt.Sprintf("%#v", o.Dates))
	}
	return strings.Join(fields, ", ")
}

// typeWords are the types of columns as a program calls them.
var typeWords = map[data.Type]string{data.Number: "data.Number", data.Category: "data.Category", data.Count: "data.Count"}

// specCode returns the fields of the spec of a run as a program has them.
func (n *run) specCode(kd *kind.Kind) string {
	spec := &n.asked.Spec
	var fields []string
	add := func(name string, set bool, value string) {
		if set {
			fields = append(fields, name+": "+value)
		}
	}
	text := func(name, value string) { add(name, value != "", strconv.Quote(value)) }
	float := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	count := func(name string, v int) { add(name, v != 0, strconv.Itoa(v)) }
	pointer := func(name string, v *float64) {
		if v != nil {
			add(name, true, "new(float64("+float(*v)+"))")
		}
	}
	if kd != kind.Of("") {
		text("Model", kd.Name)
	}
	count("K", spec.K)
	add("KRange", spec.KRange != [2]int{}, fmt.Sprintf("[2]int{%d, %d}", spec.KRange[0], spec.KRange[1]))
	text("Covariance", spec.Covariance)
	text("Dof", spec.Dof)
	text("Criterion", spec.Criterion)
	text("Algorithm", spec.Algorithm)
	add("Beta", spec.Beta != nil, fmt.Sprintf("%#v", spec.Beta))
	count("BetaSteps", spec.BetaSteps)
	count("BatchSize", spec.BatchSize)
	pointer("Penalty", spec.Penalty)
	pointer("Binarize", spec.Binarize)
	text("Noise", spec.Noise)
	text("Weights", spec.Weights)
	pointer("Concentration", spec.Concentration)
	switch {
	case spec.Init == "centers:"+centersFile:
		add("Init", true, `"centers", Centers: rows`)
	case strings.HasPrefix(spec.Init, "labels:"):
		add("Init", true, `"labels", Labels: labels`)
	default:
		text("Init", spec.Init)
	}
	count("NInit", spec.NInit)
	if spec.Seed != nil {
		add("Seed", true, fmt.Sprintf("new(uint64(%d))", *spec.Seed))
	}
	if spec.MaxIter != nil {
		add("MaxIter", true, fmt.Sprintf("new(%d)", *spec.MaxIter))
	}
	pointer("Tol", spec.Tol)
	add("TolLogLik", spec.TolLogLik != 0, float(spec.TolLogLik))
	add("TolShift", spec.TolShift != 0, float(spec.TolShift))
	add("RegCovar", spec.RegCovar != 0, float(spec.RegCovar))
	add("Prior", spec.Prior != nil, priorCode(spec.Prior))
	if spec.Missing != "" && spec.Missing != "drop" {
		text("Missing", spec.Missing)
	} else if m := n.asked.Options.Missing; m != "drop" {
		text("Missing", m)
	}
	text("Scale", spec.Scale)
	text("Transform", spec.Transform)
	count("PCA", spec.PCA)
	text("Merge", spec.Merge)
	count("Bootstrap", spec.Bootstrap)
	count("LRT", spec.LRT)
	add("AllowLong", spec.AllowLong, "true")
	add("KeepSums", spec.KeepSums, "true")
	add("Columns", true, "info.Features")
	add("Types", kd.Parted, "info.Types")
	add("Levels", kd.Parted || kd.Cells.Levels, "info.Levels")
	return strings.Join(fields, ", ")
}

// priorCode returns a prior as a program has it.
func priorCode(p *latent.Prior) string {
	if p == nil {
		return ""
	}
	var fields []string
	for _, v := range []struct {
		name  string
		value *float64
	}{{"Shrinkage", p.Shrinkage}, {"Dof", p.Dof}, {"ScaleFactor", p.ScaleFactor}, {"Weights", p.Weights}, {"Levels", p.Levels}} {
		if v.value != nil {
			fields = append(fields, fmt.Sprintf("%s: new(float64(%v))", v.name, *v.value))
		}
	}
	if p.Mean != nil {
		fields = append(fields, fmt.Sprintf("Mean: %#v", p.Mean))
	}
	if p.Scale != nil {
		fields = append(fields, fmt.Sprintf("Scale: %#v", [][]float64(p.Scale)))
	}
	if p.Shares != nil {
		fields = append(fields, fmt.Sprintf("Shares: %#v", p.Shares))
	}
	return "&latent.Prior{" + strings.Join(fields, ", ") + "}"
}
