package linelog

import (
	"slices"

	"servescope/formats"
)

// prints keeps the smallest hashes of the lines that have a time: of two logs
// those that both keep are of the same lines, however long the logs are.
type prints struct {
	lines  int64
	hashes []uint64
	below  uint64 // 0: no hash has been left out
}

// keepPrints is the number of hashes that are kept.
const keepPrints = 4096

func (p *prints) add(hash uint64) {
	p.lines++
	if p.below != 0 && hash >= p.below {
		return
	}
	if p.hashes = append(p.hashes, hash); len(p.hashes) == 2*keepPrints {
		p.prune()
	}
}

// prune leaves the smallest, all of equal ones or none.
func (p *prints) prune() {
	slices.Sort(p.hashes)
	p.below = p.hashes[keepPrints]
	n, _ := slices.BinarySearch(p.hashes, p.below)
	p.hashes = p.hashes[:n]
}

func (p *prints) list() formats.Prints {
	if len(p.hashes) > keepPrints {
		p.prune()
	}
	slices.Sort(p.hashes)
	return formats.Prints{Lines: p.lines, Hashes: slices.Clone(p.hashes), Below: p.below}
}
