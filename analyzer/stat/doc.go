// Package stat computes exact statistics of large sets of numbers: quantiles
// under several definitions, confidence intervals from order statistics, means
// and deviations that do not depend on the order of the values, a mergeable
// Digest of int64 streams in bounded memory, and sweeps over intervals.
//
// Floats are touched by + − × ÷ and math.Sqrt only, with explicit conversions
// where a compiler could fuse operations, so that results have the same bits on
// every target.
package stat
