package cell

import "servescope/analyzer/kernel"

// LeastMemory is the same however little there is.
const LeastMemory = 1 << 20

// LeastPacked is how few values of a digest are packed by themselves: a list of them
// has a head of 48 bytes.
const LeastPacked = 64

// Budget is what the digests of a state hold together. There may be thousands of cells:
// beyond it most of what they keep is packed.
type Budget struct {
	Raw    int   // values as they are
	Packed int64 // bytes of packed values in memory: further ones go to a store, where there is one
}

// BudgetOf divides the memory that facts allow.
func BudgetOf(facts *kernel.Facts) Budget {
	memory := int64(kernel.MostMemory)
	if facts.Memory > 0 {
		memory = min(max(facts.Memory, LeastMemory), kernel.MostMemory)
	}
	return Budget{int(memory / 3 / 8), memory / 3 * 2}
}
