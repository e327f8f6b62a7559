package latent_test

import (
	"context"
	"fmt"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

// Two groups in one column.
func ExampleFit() {
	table, err := data.FromRows([][]float64{{1}, {2}, {3}, {10}, {11}, {12}})
	if err != nil {
		panic(err)
	}
	r, err := latent.Fit(context.Background(), table, latent.Spec{Model: "kmeans", K: 2})
	if err != nil {
		panic(err)
	}
	fmt.Println("inertia", *r.Inertia, "converged", r.Converged)
	for _, c := range r.Components {
		fmt.Println(c.Label, c.Mean, c.Rows, "rows")
	}
	// Output:
	// inertia 4 converged true
	// 1 [2] 3 rows
	// 2 [11] 3 rows
}

// A Gaussian mixture of a built-in table, read as the command reads it.
func ExampleFit_file() {
	ctx := context.Background()
	src, info, err := data.Load(ctx, "@faithful", data.Options{})
	if err != nil {
		panic(err)
	}
	r, err := latent.Fit(ctx, src, latent.Spec{K: 2, Columns: info.Features})
	if err != nil {
		panic(err)
	}
	fmt.Printf("log-likelihood %.3f, BIC %.2f\n", *r.LogLik, *r.BIC)
	for _, c := range r.Components {
		fmt.Printf("%d: weight %.2f, %s %.2f, %s %.1f\n", c.Label, c.Weight, r.Columns[0], c.Mean[0], r.Columns[1], c.Mean[1])
	}
	// Output:
	// log-likelihood -1130.264, BIC 2322.19
	// 1: weight 0.64, eruptions 4.29, waiting 80.0
	// 2: weight 0.36, eruptions 2.04, waiting 54.5
}
