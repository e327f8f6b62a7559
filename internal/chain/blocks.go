package chain

import "slices"

// Blocks smooths a sequence, and finds its likeliest path, block of rows by block, so that neither the scores nor the probabilities of all rows
// are held: some numbers for each block, and those of the block at hand. The scores of each block are asked for three times: by Forward in order,
// until it has gone through without asking for another round, by Backward from the last block to the first, and by Decode in any order.
type Blocks struct {
	chain  *Chain
	logs   bool // the sequence is done with logarithms
	blocks []block
	now    block // what is known before the block to come
	from   []int32
}

// block is what is known at the ends of a block.
type block struct {
	past Past      // before its first row
	best []float64 // K: log density of the likeliest path to each state in the row before; nil for the first block
	beta []float64 // Stride: that of its last row, or its logarithms
	end  int32     // the state of the path in its last row
}

// NewBlocks returns what is ready for the first block of a sequence.
func (m *Chain) NewBlocks() *Blocks { return &Blocks{chain: m} }

// Forward takes the scores of the next block, as Filter takes them. Where again is true all blocks so far were in vain: they must be done again, from
// the first one, with logarithms. It fails with an *ImpossibleError.
func (b *Blocks) Forward(s *Sequence, scores []float64) (again bool, err error) {
	m := b.chain
	if err := m.filter(s, scores, &b.now.past); err != nil {
		return false, err
	}
	if s.logs && !b.logs {
		*b = Blocks{chain: m, logs: true, now: block{past: Past{logs: true}}}
		return true, nil
	}
	best, err := m.paths(b.now.best, nil, scores)
	if err != nil {
		return false, err
	}
	b.blocks = append(b.blocks, b.now)
	last := slices.Clone(s.Filtered[len(s.Filtered)-m.Stride:])
	b.now = block{past: Past{state: last, logs: b.logs}, best: best}
	return false, nil
}

// Turn ends the way forward: the next block is the last one, for Backward.
func (b *Blocks) Turn() {
	last := &b.blocks[len(b.blocks)-1]
	last.beta = make([]float64, b.chain.Stride)
	b.chain.last(last.beta, b.logs)
	last.end = likeliest(b.now.best)
}

// Backward takes the scores of block i, from 0, where those of all after it have been taken.
func (b *Blocks) Backward(s *Sequence, i int, scores []float64) {
	path := make([]int32, len(scores)/b.chain.Stride)
	before := b.decode(s, path, i, scores)
	if i > 0 {
		b.blocks[i-1].beta, b.blocks[i-1].end = slices.Clone(s.beta), before
	}
}

// Decode sets s.LogDensity, s.Filtered, s.Smoothed and path for the rows of block i, once Backward has gone through.
func (b *Blocks) Decode(s *Sequence, path []int32, i int, scores []float64) {
	b.decode(s, path, i, scores)
}

// decode is Decode. It returns the state of the path in the row before the block, and leaves beta of that row in s.
func (b *Blocks) decode(s *Sequence, path []int32, i int, scores []float64) (before int32) {
	m, at := b.chain, &b.blocks[i]
	_ = m.filter(s, scores, &at.past) // Forward has gone through here
	s.beta = append(s.beta[:0], at.beta...)
	m.smooth(s, scores, at.past.state)
	b.from = slices.Grow(b.from[:0], len(path)*m.K)[:len(path)*m.K]
	_, _ = m.paths(at.best, b.from, scores)
	return m.trace(path, b.from, at.end)
}
