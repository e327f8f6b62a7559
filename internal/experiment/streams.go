package experiment

// Stream numbers of the generators made from one seed, so that no two data sets share numbers.
const (
	streamGaussians = 4<<32 + iota
	streamViolet
	streamDither
	streamTimes
)
