package family

// EMStep is MStep without Kent, Tyler and Vardi's factor: the step of the textbooks.
func (g Student) EMStep(next, theta []float64, s *Stats) { g.mStep(next, theta, s, false) }
