package main

import (
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// forecastFlags are those of forecast.
type forecastFlags struct {
	applyFlags
	steps int
	json  bool
}

func forecastCommand() *cobra.Command {
	var f forecastFlags
	cmd := &cobra.Command{
		Use: "forecast MODEL DATA... --steps H", Short: "What a hidden Markov model expects of the rows that follow each sequence", Example: "  latent forecast model.json runs.csv --steps 3",
		Args: atLeast(2, "a model and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.data.more = args[2:]
			return f.run(cmd, args[0], args[1])
		},
	}
	f.data.add(cmd)
	f.data.addSequence(cmd)
	c := cmd.Flags()
	c.MarkHidden("id") // refused below
	c.IntVar(&f.steps, "steps", 1, "how many rows ahead")
	c.StringVarP(&f.output, "output", "o", "", "write to this file (.csv or .parquet) instead of standard output")
	c.BoolVar(&f.json, "json", false, "print it as JSON")
	unseenFlag(cmd, &f.unseen)
	threadsFlag(cmd, &f.threads)
	return cmd
}

func (f *forecastFlags) run(cmd *cobra.Command, modelFile, path string) (err error) {
	switch {
	case f.steps < 1:
		return usagef("--steps is %d; it must be at least 1", f.steps)
	case f.data.ID != "":
		return usagef("--id has no effect on forecast, which names sequences and no rows")
	case f.json && f.output != "":
		return usagef("--json prints to standard output: -o has no effect with it")
	}
	if f.threads, err = checkThreads(cmd, f.threads); err != nil {
		return err
	}
	if err := f.validate(append(f.data.more, modelFile, path)...); err != nil {
		return err
	}
	m, err := model.Load(modelFile)
	if err != nil {
		return err
	}
	if !m.IsChain() {
		return usagef("%s: a %s model has no forecast, since it knows nothing of the order of rows; fit one with --model hmm", modelFile, m.Kind)
	}
	src, info, err := f.rows(cmd, m, path)
	if err != nil {
		return err
	}
	defer closeRows(src)
	ahead := func(each func(*model.Forecast) error) error {
		return f.data.error(cmd.Context(), path, m.Forecast(cmd.Context(), src, f.steps, f.threads, each))
	}
	if f.json {
		told, err := toldForecasts(m, info, f.steps, ahead)
		if err != nil {
			return err
		}
		return printJSON(cmd.OutOrStdout(), told)
	}
	return f.emit(cmd, func(w io.Writer, format string) error { return writeForecasts(w, format, m, info, ahead) })
}

// sequenceName returns the name of a sequence among names: 1 where the rows are one, which has none.
func sequenceName(names []string, number int) string {
	if names == nil {
		return strconv.Itoa(number + 1)
	}
	return names[number]
}

// writeForecasts writes a line for each step of each sequence: the probabilities of the states, the mean and the standard deviation of each number,
// and the probability of each level.
func writeForecasts(w io.Writer, format string, m *model.Model, info *data.Info, ahead func(func(*model.Forecast) error) error) error {
	cols := []data.OutColumn{{Name: "sequence", Kind: data.Text}, {Name: "step", Kind: data.Int}}
	number := func(name string) {
		taken := make([]string, len(cols))
		for i, c := range cols {
			taken[i] = c.Name
		}
		cols = append(cols, data.OutColumn{Name: fresh(name, taken), Kind: data.Float})
	}
	for c := range m.K() {
		number("p" + strconv.Itoa(c+1))
	}
	names, levels := m.ForecastVariables()
	for j, name := range names {
		if levels[j] == nil {
			number("mean_" + name)
			number("sd_" + name)
		}
		for _, level := range levels[j] {
			number(name + "=" + level)
		}
	}
	out, err := data.Create(w, format, cols)
	if err != nil {
		return err
	}
	err = ahead(func(f *model.Forecast) error {
		out.Text(sequenceName(info.Sequences, int(f.Sequence)))
		out.Int(int64(f.Step))
		out.Floats(f.States)
		for j := range f.Variables {
			if v := &f.Variables[j]; v.Levels != nil {
				out.Floats(v.Levels)
			} else {
				out.Float(v.Mean)
				out.Float(v.SD)
			}
		}
		return out.End()
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// toldForecast is a forecast as --json prints it.
type toldForecast struct {
	Sequence string                        `json:"sequence"`
	Step     int                           `json:"step"`
	States   []float64                     `json:"states"`
	Mean     map[string]*float64           `json:"mean,omitempty"` // of each number; null where it does not exist
	SD       map[string]*float64           `json:"sd,omitempty"`
	Levels   map[string]map[string]float64 `json:"levels,omitempty"` // of each column of categories
}

// toldForecasts is what forecast --json prints.
func toldForecasts(m *model.Model, info *data.Info, steps int, ahead func(func(*model.Forecast) error) error) (any, error) {
	told := struct {
		Steps     int            `json:"steps"`
		Forecasts []toldForecast `json:"forecasts"`
	}{steps, []toldForecast{}}
	names, levels := m.ForecastVariables()
	err := ahead(func(f *model.Forecast) error {
		t := toldForecast{Sequence: sequenceName(info.Sequences, int(f.Sequence)), Step: f.Step, States: append([]float64{}, f.States...),
			Mean: map[string]*float64{}, SD: map[string]*float64{}, Levels: map[string]map[string]float64{}}
		for j, name := range names {
			v := &f.Variables[j]
			if v.Levels == nil {
				t.Mean[name], t.SD[name] = finite(v.Mean), finite(v.SD)
				continue
			}
			t.Levels[name] = map[string]float64{}
			for l, level := range levels[j] {
				t.Levels[name][level] = v.Levels[l]
			}
		}
		told.Forecasts = append(told.Forecasts, t)
		return nil
	})
	return told, err
}

// finite returns v, nil where it is not finite.
func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}
