package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// coins is a model as one may write it by hand.
const coins = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["grams"],
 "weights": [0.75, 0.25], "means": [[5], [8]], "covariances": [0.04, 0.09], "transform": []}`

func loaded() *model.Model {
	m := new(model.Model)
	if err := json.Unmarshal([]byte(coins), m); err != nil {
		panic(err)
	}
	return m
}

func weighed() data.Source {
	rows, err := data.FromRows([][]float64{{5.1}, {7.5}, {6.2}})
	if err != nil {
		panic(err)
	}
	return rows
}

func ExampleModel_Predict() {
	labels, err := loaded().Predict(context.Background(), weighed())
	fmt.Println(labels, err)
	// Output: [0 1 0] <nil>
}

func ExampleModel_PredictProba() {
	rows, err := loaded().PredictProba(context.Background(), weighed())
	if err != nil {
		panic(err)
	}
	for _, r := range rows {
		fmt.Printf("%.4f\n", r)
	}
	// Output:
	// [1.0000 0.0000]
	// [0.0000 1.0000]
	// [0.8182 0.1818]
}

func ExampleModel_LogDensity() {
	scores, err := loaded().LogDensity(context.Background(), weighed())
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f\n", scores)
	// Output: [0.278 -2.490 -17.397]
}

func ExampleModel_Sample() {
	rows, labels, err := loaded().Sample(1000, 1)
	if err != nil {
		panic(err)
	}
	light := 0
	for i, c := range labels {
		if c == 0 && rows.F64[i] < 6 {
			light++
		}
	}
	fmt.Println(light > 700 && light < 800)
	// Output: true
}

// Rows hands over labels, responsibilities and log densities a run of rows at a time, which need never be in memory at once.
func ExampleModel_Rows() {
	err := loaded().Rows(context.Background(), weighed(), 1, func(s *model.Scored) error {
		for i, c := range s.Label {
			fmt.Printf("%v grams: group %d, responsibility %.3f\n", s.At(i, 0), c+1, s.Responsibilities[i*s.K+int(c)])
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// 5.1 grams: group 1, responsibility 1.000
	// 7.5 grams: group 2, responsibility 1.000
	// 6.2 grams: group 1, responsibility 0.818
}

// A server that gets one row at a time keeps a scorer.
func ExampleScorer() {
	s, err := loaded().Scorer()
	if err != nil {
		panic(err)
	}
	for _, grams := range []float64{5.1, 7.5} {
		label, err := s.Predict([]float64{grams})
		fmt.Println(label, err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
}

// A missing cell is NaN. The second row belongs to the second group, in which the columns vary together.
func ExampleModel_Impute() {
	m := new(model.Model)
	err := json.Unmarshal([]byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "tied", "columns": ["length", "weight"],
	 "weights": [0.5, 0.5], "means": [[10, 20], [50, 80]], "covariances": [[4, 3], [3, 9]]}`), m)
	if err != nil {
		panic(err)
	}
	rows, err := data.FromRows([][]float64{{10, 21}, {52, math.NaN()}, {math.NaN(), 20}})
	if err != nil {
		panic(err)
	}
	filled, err := m.Impute(context.Background(), rows)
	if err != nil {
		panic(err)
	}
	for i := range filled.N {
		fmt.Printf("%.2f %.2f\n", filled.At(i, 0), filled.At(i, 1))
	}
	// Output:
	// 10.00 21.00
	// 52.00 81.50
	// 10.00 20.00
}
