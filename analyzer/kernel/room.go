package kernel

import "servescope/analyzer/stat"

// MostMemory is how many bytes of values a state holds however much memory there is:
// to pack what is beyond costs little, and first touches of memory cost as much.
const MostMemory = 24 << 20

// leastMemory is the same however little there is.
const leastMemory = 1 << 20

// leastPacked is how few values of a digest are packed by themselves: a list of them
// has a head of 48 bytes.
const leastPacked = 64

// room is what the digests of a state hold together. There may be thousands of cells:
// beyond it most of what they keep is packed.
type room struct {
	raw    int   // values as they are
	packed int64 // bytes of packed values in memory: further ones go to a store, where there is one
}

// roomOf divides the memory that facts allow.
func roomOf(facts *Facts) room {
	memory := int64(MostMemory)
	if facts.Memory > 0 {
		memory = min(max(facts.Memory, leastMemory), MostMemory)
	}
	return room{int(memory / 3 / 8), memory / 3 * 2}
}

// pack bounds the values that all digests keep as they are: those that keep most
// pack them, once there are half as many new ones. It is not worth the time for a few
// of each cell.
func (s *tokensState) pack() {
	most := max(s.room.raw/2, leastPacked*len(s.cells.byPlace))
	if s.added <= most {
		return
	}
	s.added = 0
	sum := 0
	for _, p := range s.cells.byPlace {
		sum += p.raw()
	}
	for least := stat.DefaultLimit / 2; sum > most && least >= leastPacked; least /= 2 {
		for _, p := range s.cells.byPlace {
			var to stat.Store
			if s.held > s.room.packed {
				to = s.facts.Store
			}
			n, held := p.pack(least, to)
			sum, s.held = sum-n, s.held+held
		}
	}
}

// latencyShare is how many times as many values the samples of single requests may
// hold: without windows and groups they keep them, or count.
const latencyShare = 4

// pack bounds the values that all samples keep as they are, as that of the digests of
// tokens does.
func (s *latencyState) pack() {
	if s.wanted != nil {
		return
	}
	most := max(latencyShare*s.room.raw, leastPacked*len(measures)*len(s.cells.byPlace))
	if s.added <= most/2 {
		return
	}
	s.added = 0
	sum := 0
	for _, cell := range s.cells.byPlace {
		for i := range cell.values {
			sum += cell.values[i].Raw()
		}
	}
	if sum <= most {
		return
	}
	for least := stat.SampleLimit; sum > most/2 && least >= leastPacked; least /= 2 {
		for _, cell := range s.cells.byPlace {
			for i := range cell.values {
				v := &cell.values[i]
				if n := v.Raw(); n >= least {
					var to stat.Store
					if s.held > s.room.packed {
						to = s.facts.Store
					}
					s.held += v.Pack(to)
					sum -= n
				}
			}
		}
	}
}
