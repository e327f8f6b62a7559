package sweep_test
import ("testing";"time";"fmt";"github.com/latent-go/latent/mixture";"github.com/latent-go/latent/sweep";"context";"math")
func TestZZ(t *testing.T) {
	for _, c := range []struct{n, d int}{{100000,2},{100000,10},{30000,20},{30000,40}} {
		m, theta, src := overlapping(c.n, c.d, 1)
		keep := m.Identified(theta, nil)
		share := sweep.InformationShare(len(keep), int64(c.n))
		for _, threads := range []int{1,2} {
		l := sweep.NewLocal(src, int64(c.n), make([]float64, c.d), threads)
		t0 := time.Now()
		l.Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}})
		t1 := time.Now()
		info, _ := l.Information(context.Background(), m, theta, keep, share, 1)
		t2 := time.Now()
		u, err := mixture.Invert(info.Matrix, keep)
		if err != nil { fmt.Println(err); continue }
		fmt.Println(c, threads, "p", len(keep), "share", share, info.Rows, "sweep", t1.Sub(t0), "info", t2.Sub(t1), "invert", time.Since(t2), math.Sqrt(u.StandardError(0, []float64{1,1,1})))
		}
	}
}
