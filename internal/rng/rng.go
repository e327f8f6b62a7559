// Package rng makes the program's generators of random numbers. Every use of random numbers is a stream, and all streams stand
// in one table, so that no two uses of one seed share numbers.
package rng

import "math/rand/v2"

// A Stream is one use of random numbers. It has generators of its own for every seed.
type Stream int

// The streams of a seed that the user chooses.
const (
	Starts           Stream = iota // where a climb starts: one a start, the first start of many is the one start of one
	Draws                          // rows drawn from a model
	Rows                           // which rows of a file are read
	ScoreSilhouettes               // which rows have silhouettes when given labels are scored
	StartSample                    // which rows starts are drawn from, and climb on first
	Moves                          // moves that leave a local maximum: one a start
	Nudges                         // what parts equal components when annealing ends
	Probes                         // directions in which a saddle may be left
	Pixels                         // which pixels of a picture are fitted
	Violet                         // the experiments' violet scene
	Dither                         // the experiments' parts of a level of a pixel
	Times                          // the experiments' rows that are timed
	Gaussians                      // the experiments' rows of Gaussians
	Bootstrap                      // row weights: one a replicate
	Null                           // rows drawn under the null hypothesis: one a replicate
	Reference                      // rows without groups, for the gap statistic: one a set
	Silhouettes                    // which rows have silhouettes when a fit chooses
	Gaps                           // what missing cells are filled with: one a draw
	Quartiles                      // which rows the quartiles of a profile are of
	Tails                          // which rows p-values under centres are among
	StandIns                       // rows that stand for those before an update: one an update
	streams
)

// span is the numbers of a stream: the sequences of PCG from first on, count of them.
type span struct{ first, count uint64 }

// many is how many generators a stream of several has.
const many = 1 << 30

// table holds the numbers of all streams. A number that changes changes what a seed gives, so two pairs share theirs, as they
// always have; nothing draws from both of a pair in one run. Moves are made where the driver is left to the fit, and by
// k-means, and Nudges only by annealing. Draws come from a model that is fitted already.
var table = [streams]span{
	Starts:           {0, many},
	Draws:            {0, 1},
	Rows:             {0x726f7773, 1},
	ScoreSilhouettes: {0x73696c68, 1},
	StartSample:      {1 << 32, 1},
	Moves:            {2 << 32, many},
	Nudges:           {2 << 32, 1},
	Probes:           {3 << 32, 1},
	Pixels:           {4 << 32, 1},
	Violet:           {4<<32 + 1, 1},
	Dither:           {4<<32 + 2, 1},
	Times:            {4<<32 + 3, 1},
	Gaussians:        {4<<32 + 4, 1},
	Bootstrap:        {5 << 32, many},
	Null:             {6 << 32, many},
	Reference:        {7 << 32, many},
	Silhouettes:      {8 << 32, 1},
	Gaps:             {9 << 32, many},
	Quartiles:        {10 << 32, 1},
	Tails:            {11 << 32, 1},
	StandIns:         {12 << 32, many},
}

// New returns the generator of the stream for a seed, and the first of a stream of several.
func (s Stream) New(seed uint64) *rand.Rand { return s.At(seed, 0) }

// At returns generator i of the stream, from 0, for a seed.
func (s Stream) At(seed uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, table[s].first+uint64(i)))
}

// Batches returns the generator of the mini-batches of a climb, for a seed and a hash of where the climb starts. Its number in
// PCG is the hash, which is that of another stream once in some 2^30 times.
func Batches(seed, hash uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, hash)) }

// A Fixed generator gives the same numbers in every run: no seed of the user changes it.
type Fixed int

// The fixed generators.
const (
	Components      Fixed = iota // directions that the search for principal components begins with
	Orders                       // orders in which DP-means hands out rows
	Page                         // which rows a page draws
	PageSilhouettes              // which rows have silhouettes on a page
	Terminal                     // which rows a drawing on the terminal shows
	fixed
)

// fixedTable holds the seed and the number of every fixed generator. They are those of starts 0 to 3 of these seeds.
var fixedTable = [fixed]struct{ seed, number uint64 }{
	Components:      {1, 0},
	Orders:          {0x51, 0},
	Page:            {1, 1},
	PageSilhouettes: {1, 2},
	Terminal:        {1, 3},
}

// New returns the generator at its beginning.
func (f Fixed) New() *rand.Rand {
	return rand.New(rand.NewPCG(fixedTable[f].seed, fixedTable[f].number))
}

// Seed returns the seed of the generator, for those who tell of it.
func (f Fixed) Seed() uint64 { return fixedTable[f].seed }

// Mix returns z with its bits mixed, so that numbers in a row become uniform: the last step of splitmix64 (Steele, Lea, Flood
// 2014). No two z give the same.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
