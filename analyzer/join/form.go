package join

import "bytes"

// Rule is a set of the ways in which two names of one request may differ.
type Rule uint16

// The decorations that servers add to a request id, and the other ways in which
// rows name each other.
const (
	// Prefix is the kind of request, which vLLM's API server puts before the id of
	// the client (its X-Request-Id) or a random one: chatcmpl-abc.
	Prefix Rule = 1 << iota
	// Random is what vLLM's front end appends for the engine, to make ids unique
	// (vllm-project/vllm#27987, about v0.14): chatcmpl-abc-9f31c2d4.
	Random
	// Index is the number of the prompt or choice: cmpl-abc-0.
	Index
	// Number is that of a choice, which vLLM's V1 engine puts before the id of its
	// parent (1_chatcmpl-abc), or of SGLang's tokenizer worker (4711_abc).
	Number
	// Address is what the router of vLLM's P2P connector puts before a random id,
	// for the two nodes to find each other:
	// ___prefill_addr_10.0.1.2:21001___decode_addr_10.0.1.3:22001_93923d63.
	Address
	// Room is that a source's join_group names both: a bootstrap room, which SGLang
	// writes in decimal into logs and in hexadecimal into spans.
	Room
	// Position is that vLLM's benchmark client sent its request i under the id
	// bench-xxxxxxxx-i, or benchmark-serving<i>, and wrote none into its result.
	Position
)

// ruleNames name the rules in reports, in the order of their bits.
var ruleNames = [...]string{"prefix", "random suffix", "index suffix", "number prefix", "address prefix", "join_group", "position"}

// String names the rules of the set, joined by +; the empty set is "exact".
func (r Rule) String() string {
	if r == 0 {
		return "exact"
	}
	var s []byte
	for i, name := range ruleNames {
		if r&(1<<i) != 0 {
			if len(s) > 0 {
				s = append(s, " + "...)
			}
			s = append(s, name...)
		}
	}
	return string(s)
}

// lossy are the rules that take off what may tell two requests apart, so one of
// two names has to do without them.
const lossy = Random | Index | Number

// kinds are the prefixes of vLLM's API server, by endpoint.
var kinds = [][]byte{
	[]byte("chatcmpl-"), []byte("cmpl-"), []byte("embd-"), []byte("score-"), []byte("classify-"), []byte("pooling-"),
	[]byte("rerank-"), []byte("resp_"), []byte("generate-tokens-"),
}

// address and decodeAddress begin the two parts of an Address.
var address, decodeAddress = []byte("___prefill_addr_"), []byte("___decode_addr_")

// form is what is left of an id when decorations are taken off.
type form struct {
	text   []byte // a part of the id
	used   Rule   // what was taken off
	number int64  // of an Index or Number that was, else -1
}

// strip takes the given decorations off id, each at most once, as far as it has
// them. Suffixes are those of a server: only an id with a Prefix has any, or else
// ids of a client that end in digits would lose them.
func strip(id []byte, allowed Rule) form {
	f := form{text: id, number: -1}
	if allowed&Number != 0 {
		if n, rest, ok := numbered(f.text); ok {
			f.text, f.number, f.used = rest, n, Number
		}
	}
	if allowed&Prefix != 0 {
		for _, kind := range kinds {
			if len(f.text) > len(kind) && bytes.HasPrefix(f.text, kind) {
				f.text, f.used = f.text[len(kind):], f.used|Prefix
				break
			}
		}
	}
	if f.used&Prefix != 0 {
		if allowed&Random != 0 && endsRandom(f.text) {
			f.text, f.used = f.text[:len(f.text)-randomLen], f.used|Random
		}
		if n, rest, ok := indexed(f.text); ok && allowed&Index != 0 {
			f.text, f.number, f.used = rest, n, f.used|Index
		}
	}
	if allowed&Address != 0 {
		if rest, ok := unaddressed(f.text); ok {
			f.text, f.used = rest, f.used|Address
		}
	}
	return f
}

// randomLen is the length of a Random, its dash included.
const randomLen = len("-9f31c2d4")

// endsRandom reports whether id ends in a dash and 8 lower-case hexadecimal
// digits, behind something else.
func endsRandom(id []byte) bool {
	n := len(id) - randomLen
	return n > 0 && id[n] == '-' && isHex(id[n+1:])
}

func isHex(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// indexed cuts a dash and up to 4 digits off the end of id.
func indexed(id []byte) (n int64, rest []byte, ok bool) {
	k := len(id)
	for k > 0 && len(id)-k < 4 && id[k-1] >= '0' && id[k-1] <= '9' {
		k--
	}
	if k < 2 || k == len(id) || id[k-1] != '-' {
		return 0, nil, false
	}
	n, _ = decimal(id[k:])
	return n, id[:k-1], true
}

// numbered cuts up to 10 digits and a low line off the beginning of id.
func numbered(id []byte) (n int64, rest []byte, ok bool) {
	k := bytes.IndexByte(id, '_')
	if k < 1 || k > 10 || k+1 == len(id) {
		return 0, nil, false
	}
	n, ok = decimal(id[:k])
	return n, id[k+1:], ok
}

// decimal returns the value of up to 18 digits.
func decimal(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// unaddressed cuts the addresses of two nodes off the beginning of id. The
// second ends at the last low line.
func unaddressed(id []byte) (rest []byte, ok bool) {
	k := bytes.LastIndexByte(id, '_')
	if !bytes.HasPrefix(id, address) || k+1 == len(id) || !bytes.Contains(id, decodeAddress) {
		return nil, false
	}
	return id[k+1:], true
}

// room appends a join_group as every source would write it: the number of a
// bootstrap room in decimal, anything else as it stands.
func room(dst, text []byte) []byte {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	if !ok || len(digits) == 0 || len(digits) > 16 || !isHex(digits) {
		return append(dst, text...)
	}
	var n uint64
	for _, c := range digits {
		if c >= 'a' {
			c -= 'a' - '0' - 10
		}
		n = n<<4 | uint64(c-'0')
	}
	var buf [20]byte
	k := len(buf)
	for {
		k--
		buf[k] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return append(dst, buf[k:]...)
		}
	}
}

// benchmark takes an id of vLLM's benchmark client apart, as a server logs it:
// the run's own part, and the number of the request.
func benchmark(id []byte) (run, number []byte, ok bool) {
	f := strip(id, Prefix)
	for _, text := range [...][]byte{f.text, strip(id, Prefix|Random).text, strip(id, Prefix|Index).text, strip(id, Prefix|Random|Index).text} {
		rest, dashed := bytes.CutPrefix(text, []byte("bench-"))
		if dashed && len(rest) > 9 && rest[8] == '-' && isHex(rest[:8]) {
			if _, ok := decimal(rest[9:]); ok {
				return text[:len(text)-len(rest)+9], rest[9:], true
			}
		}
		if rest, old := bytes.CutPrefix(text, []byte("benchmark-serving")); old {
			if _, ok := decimal(rest); ok {
				return text[:len(text)-len(rest)], rest, true
			}
		}
	}
	return nil, nil, false
}
