package cell

import "servescope/analyzer/kernel"

// MinMemory is the least memory that a state is given.
const MinMemory = 1 << 20

// MinPacked is the smallest number of values of a digest that are packed: a packed list
// has a head of 48 bytes.
const MinPacked = 64

// Budget bounds the memory of all digests of a state, of which there may be thousands:
// beyond it they pack most of their values.
type Budget struct {
	Raw    int   // values as they are
	Packed int64 // bytes of packed values in memory: further ones go to a store, where there is one
}

// BudgetOf divides the memory that facts allow.
func BudgetOf(facts *kernel.Facts) Budget {
	memory := int64(kernel.MaxMemory)
	if facts.Memory > 0 {
		memory = min(max(facts.Memory, MinMemory), kernel.MaxMemory)
	}
	return Budget{int(memory / 3 / 8), memory / 3 * 2}
}
