package main

import (
	"encoding/json"
	"io"
	"math"
	"net/url"
	"strings"
	"testing"
)

// Every case of the lab shows what it says, by numbers of runs, and its address leads to a run that can be watched.
func TestCasesOfTheLabShowWhatTheySay(t *testing.T) {
	t.Parallel()
	v := visit(t)
	_, b := v.get("/api/lab")
	var list []struct{ Name, Title string }
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 7 {
		t.Fatalf("%v: %s", err, b)
	}
	near := func(got, want, by float64) bool { return math.Abs(got-want) <= by }
	shows := map[string]func(f map[string]float64, said string) bool{
		"local-optimum": func(f map[string]float64, _ string) bool {
			return near(f["log-likelihood"], -195.62, 0.01) && near(f["best"], -180.19, 0.01)
		},
		"tolerance-trap": func(f map[string]float64, _ string) bool {
			return near(f["weight-at-stop"], 0.163, 0.001) && near(f["weight-at-end"], 0.418, 0.001)
		},
		"spike": func(f map[string]float64, said string) bool {
			return f["at-floor"] == 1 && f["log-likelihood"] > f["best"] && strings.HasPrefix(said, "1 group is at the variance floor, on ")
		},
		"saddle": func(f map[string]float64, _ string) bool {
			return f["saddles-escaped"] == 1 && f["log-likelihood"] > f["start"]+100
		},
		"long-clusters": func(f map[string]float64, _ string) bool {
			return near(f["ari-kmeans"], 0, 0.02) && near(f["ari-mixture"], 0.99, 0.011)
		},
		"annealing": func(f map[string]float64, _ string) bool {
			return f["apart"] < 0.01 && near(f["log-likelihood"], -1119.21, 0.01) && near(f["best"], -1114.44, 0.01)
		},
		"unbalanced": func(f map[string]float64, said string) bool {
			return near(f["weight-at-stop"], 0.198, 0.001) && near(f["weight-at-end"], 0.017, 0.001) && strings.Contains(said, "To the same end EM takes 3")
		},
	}
	for _, c := range list {
		r, err := v.ask(t.Context(), "POST", "/api/lab/"+c.Name, "application/json", []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		var told struct {
			Title, Cure, Watch, Race, Sentence, Error string
			Text                                      []string
			Verdict                                   map[string]float64
		}
		if err := json.Unmarshal(b, &told); err != nil || told.Error != "" || told.Cure == "" || len(told.Text) != 2 {
			t.Fatalf("%s: %v %.300s", c.Name, err, b)
		}
		t.Logf("%s: %v %s", c.Name, told.Verdict, told.Sentence)
		if !shows[c.Name](told.Verdict, told.Sentence) {
			t.Errorf("%s: %v %s", c.Name, told.Verdict, told.Sentence)
		}
		u, err := url.Parse(told.Watch)
		if err != nil || u.Path != "/watch" {
			t.Fatalf("%s: %v", told.Watch, err)
		}
		q := u.Query()
		spec := map[string]any{}
		for _, key := range []string{"model", "algorithm", "covariance"} {
			if q.Get(key) != "" {
				spec[key] = q.Get(key)
			}
		}
		body := map[string]any{"data": q.Get("data"), "trace": true, "spec": spec}
		json.Unmarshal([]byte(`{"k":`+q.Get("k")+`,"seed":`+q.Get("seed")+`}`), &spec)
		if init := q.Get("init"); init == "centers" {
			body["options"] = map[string]any{"centers": [][]any{{nil, nil}, {nil, nil}}}
		} else {
			spec["init"] = init
		}
		b, _ = json.Marshal(body)
		s := v.run(string(b))
		if s.Error != "" || s.Result.LogLik == nil && s.Result.Inertia == nil || len(s.Frames) < 3 {
			t.Fatalf("%s: %s: %s", c.Name, b, s.Error)
		}
		if want, known := told.Verdict["log-likelihood"]; known && c.Name != "unbalanced" && *s.Result.LogLik != want {
			t.Errorf("%s: watched it ends at %v, the verdict is %v", c.Name, *s.Result.LogLik, want)
		}
	}
}
