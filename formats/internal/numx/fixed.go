package numx

// Zeros is eight zeros as text: XORed with eight bytes of text it turns digits
// into their values.
const Zeros = zeros

// Digits8 returns the number that eight digits form, given as values, the lowest
// byte the most significant.
func Digits8(t uint64) uint64 { return parse8(t) }
