package profile

import (
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// places gathers a latitude and a longitude as points of the unit sphere: on either side of the date line an average of degrees would lie on
// the other side of the globe.
type places struct {
	lat, lon int          // columns of the table
	moments  [][3]moments // of x, y and z in each group, then of all rows
	change   *data.Changes
	xyz      [3][]float64 // of a run
}

// placesOf returns the pairs of columns that the model takes for places.
func placesOf(m *model.Model, columns []gathered) (list []places) {
	changes, _ := model.ChangesOf(m.Transform)
	at := func(name string) int {
		for j := range columns {
			if at := columns[j].fitted; at >= 0 && m.Columns[at] == name {
				return j
			}
		}
		return -1
	}
	for _, c := range changes {
		if c.Kind != "geo" {
			continue
		}
		lat, lon := at(c.Columns[0]), at(c.Columns[1])
		bound, err := data.Bind([]data.Change{c}, c.Columns)
		if lat >= 0 && lon >= 0 && err == nil {
			list = append(list, places{lat: lat, lon: lon, moments: make([][3]moments, m.NumLabels()+1), change: bound})
		}
	}
	return list
}

// add adds the n rows of the run that b has added last.
func (p *places) add(b *Builder, n int) error {
	lat, lon := b.cols[p.lat].x, b.cols[p.lon].x
	for axis := range p.xyz {
		p.xyz[axis] = p.xyz[axis][:0]
	}
	var point [3]float64
	for i := range n {
		if err := p.change.Row(point[:], []float64{lat[i], lon[i]}); err != nil {
			return err
		}
		for axis, v := range point {
			p.xyz[axis] = append(p.xyz[axis], v)
		}
	}
	for c := range p.moments {
		for axis := range p.xyz {
			p.moments[c][axis].add(p.xyz[axis], b.share[c*n:c*n+n])
		}
	}
	return nil
}

// tell says of the two columns where the mean points lie, in degrees, and what share of the squared distances from the mean of all lies
// between the groups.
func (p *places) tell(lat, lon *Column) {
	k := len(p.moments) - 1
	between, whole := 0.0, 0.0
	for axis := range 3 {
		all := &p.moments[k][axis]
		for c := range k {
			m := &p.moments[c][axis]
			between += m.weight * (m.mean - all.mean) * (m.mean - all.mean)
		}
		whole += all.square
	}
	for _, c := range []*Column{lat, lon} {
		c.Place, c.Between = true, ratio(between, whole)
	}
	for c := range p.moments {
		m := &p.moments[c]
		told := []float64{math.NaN(), math.NaN()}
		if *lat.at(c), *lon.at(c) = (Cell{}), (Cell{}); m[0].weight > 0 {
			p.change.Back(told, []float64{m[0].mean, m[1].mean, m[2].mean})
			lat.at(c).Mean, lon.at(c).Mean = new(told[0]), new(told[1])
		}
	}
}
