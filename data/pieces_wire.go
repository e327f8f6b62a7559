package data

// statsWire is columnStats as they are sent.
type statsWire struct {
	N                                                   int64
	Mean                                                float64
	M2                                                  [3]float64
	Min, Max                                            float64
	MinRow, MinLine                                     int64
	First, Last                                         float64
	Bits, Integers, Rising, From0, From1                bool
	Missing, Infinite, Texts, Rounded, Grouped          int64
	AtMissing, AtInfinite, AtText, AtRounded, AtGrouped spot
	Samples                                             []string
}

func (s *columnStats) wire() statsWire {
	return statsWire{s.n, s.mean, [3]float64{s.m2.plain, s.m2.small, s.m2.large}, s.min, s.max, s.minRow, s.minLine, s.first, s.last,
		s.bits, s.integers, s.rising, s.from0, s.from1, s.missing, s.infinite, s.texts, s.rounded, s.grouped,
		s.firstMissing, s.firstInfinite, s.firstText, s.firstRounded, s.firstGrouped, s.samples}
}

func (w *statsWire) stats() columnStats {
	return columnStats{w.N, w.Mean, squares{w.M2[0], w.M2[1], w.M2[2]}, w.Min, w.Max, w.MinRow, w.MinLine, w.First, w.Last,
		w.Bits, w.Integers, w.Rising, w.From0, w.From1, w.Missing, w.Infinite, w.Texts, w.Rounded, w.Grouped,
		w.AtMissing, w.AtInfinite, w.AtText, w.AtRounded, w.AtGrouped, w.Samples}
}
