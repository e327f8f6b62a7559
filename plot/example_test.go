package plot_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/latent-go/latent/plot"
)

// Three columns are shown in two of them, with the components of a fit.
func ExampleScatter() {
	rows := []float64{ // n x 3 by rows
		5.1, 3.5, 1.4,
		4.9, 3.0, 1.4,
		6.3, 3.3, 6.0,
		5.8, 2.7, 5.1,
	}
	plane := plot.Columns(3, 0, 2)
	x1, y1 := plane.Points(rows[:6])
	x2, y2 := plane.Points(rows[6:])
	cov := []float64{0.12, 0.1, 0.02, 0.1, 0.14, 0.01, 0.02, 0.01, 0.03} // 3 x 3 by rows
	figure := plot.Scatter{
		Head: plot.Head{Title: "Petals tell the two species apart"},
		X:    plot.Axis{Label: "sepal length", Unit: "cm"},
		Y:    plot.Axis{Label: "petal length", Unit: "cm"},
		Groups: []plot.Group{
			{Name: "setosa", X: x1, Y: y1, Normal: plane.Normal([]float64{5, 3.3, 1.4}, cov)},
			{Name: "virginica", X: x2, Y: y2, Normal: plane.Normal([]float64{6, 3, 5.5}, cov)},
		},
	}.Figure()

	name := filepath.Join(os.TempDir(), "latent-example-scatter.svg")
	file, err := os.Create(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(name)
	defer file.Close()
	if err := figure.WriteSVG(file); err != nil { // or figure.WritePNG(file, plot.Dark(), 2)
		fmt.Println(err)
		return
	}
	fmt.Println(figure.Alt)
	// Output: Scatter of 4 points in 2 groups: petal length (cm) against sepal length (cm).
}

// A layer of one's own draws what no kind does: here the line y = x.
func ExampleLayer() {
	figure := plot.Scatter{Groups: []plot.Group{{X: []float64{1, 2, 3}, Y: []float64{1.1, 1.9, 3}}}}.Figure()
	figure.Title = "Predicted is about observed"
	figure.Layers = append(figure.Layers, diagonal{})
	svg, err := figure.Inline()
	fmt.Println(len(svg) > 0, err)
	// Output: true <nil>
}

type diagonal struct{}

func (diagonal) Range() plot.Range { return plot.Nothing() }

func (diagonal) Draw(f *plot.Frame) {
	f.DrawLine(plot.Muted, 1, [2]float64{1, 1}, [2]float64{3, 3})
}
