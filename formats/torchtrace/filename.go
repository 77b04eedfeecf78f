package torchtrace

import (
	"path"
	"strings"
)

// nameHint returns the ranks in the name of a file. vLLM writes
// dp0_pp0_tp0_dcp0_ep0_rank0 since v0.17, SGLang PROFILE-TP-0[-DP-0][-PP-0][-EP-0].
func nameHint(file string) ranks {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if name := find(base, "dp", vllmName); name != "" {
		return ranksIn(name)
	}
	if name := find(base, "-TP-", sglangName); name != "" {
		return ranksIn(name)
	}
	return noRanks
}

// find returns the first part of s that begins with start and that length
// recognises, or "".
func find(s, start string, length func(string) int) string {
	for {
		i := strings.Index(s, start)
		if i < 0 {
			return ""
		}
		if s = s[i:]; length(s) > 0 {
			return s[:length(s)]
		}
		s = s[1:]
	}
}

// vllmName returns the length of a list of at least three ranks at the start of s,
// 0 where s does not begin with one.
func vllmName(s string) int {
	n := 0
	for _, kind := range []string{"dp", "_pp", "_tp"} {
		k := numbered(s[n:], kind)
		if k == 0 {
			return 0
		}
		n += k
	}
	for {
		letters := strings.TrimLeft(strings.TrimPrefix(s[n:], "_"), "abcdefghijklmnopqrstuvwxyz")
		k := numbered(s[n:], s[n:len(s)-len(letters)])
		if len(s)-len(letters) < n+2 || s[n] != '_' || k == 0 {
			return n
		}
		n += k
	}
}

// sglangName is vllmName for lists as SGLang writes them.
func sglangName(s string) int {
	n := numbered(s, "-TP-")
	for k := n; k > 0; n += k {
		k = max(numbered(s[n:], "-DP-"), numbered(s[n:], "-PP-"), numbered(s[n:], "-EP-"))
	}
	return n
}

// numbered returns the length of prefix and the digits behind it at the start of
// s, 0 where there is no digit.
func numbered(s, prefix string) int {
	rest, ok := strings.CutPrefix(s, prefix)
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if !ok || digits == 0 {
		return 0
	}
	return len(prefix) + digits
}
