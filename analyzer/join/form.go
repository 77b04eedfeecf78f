package join

import "bytes"

// Rule is a set of ways in which two names of one request may differ.
type Rule uint16

// The decorations that servers add to a request id, and other ways in which
// rows name each other.
const (
	// Prefix is the kind of request. vLLM's API server puts it before the
	// client's id (its X-Request-Id) or before a random id: chatcmpl-abc.
	Prefix Rule = 1 << iota
	// Random is a suffix that vLLM's front end adds for the engine, to make ids
	// unique (vllm-project/vllm#27987, about v0.14): chatcmpl-abc-9f31c2d4.
	Random
	// Index is the number of the prompt or choice: cmpl-abc-0.
	Index
	// Number is the number of a choice, which vLLM's V1 engine puts before the
	// id of its parent (1_chatcmpl-abc), or the number of SGLang's tokenizer
	// worker (4711_abc).
	Number
	// Address is a prefix by which two nodes find each other. The router of
	// vLLM's P2P connector puts it before a random id:
	// ___prefill_addr_10.0.1.2:21001___decode_addr_10.0.1.3:22001_93923d63.
	Address
	// Room says that the join_group of a source names both rows: a bootstrap
	// room, which SGLang writes in decimal into logs and in hexadecimal into
	// spans.
	Room
	// Position says that vLLM's benchmark client sent its request i under the
	// id bench-xxxxxxxx-i or benchmark-serving<i>, and wrote no id into its
	// result.
	Position
)

// ruleNames are the names of the rules in reports, in order of their bits.
var ruleNames = [...]string{"prefix", "random suffix", "index suffix", "number prefix", "address prefix", "join_group", "position"}

// String returns the names of the rules in the set, joined by +. The empty set
// is "exact".
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

// lossy are the rules that remove text which may distinguish two requests. So
// one of two names must match without them.
const lossy = Random | Index | Number

// kinds are the prefixes of vLLM's API server, by endpoint.
var kinds = [][]byte{
	[]byte("chatcmpl-"), []byte("cmpl-"), []byte("embd-"), []byte("score-"), []byte("classify-"), []byte("pooling-"),
	[]byte("rerank-"), []byte("resp_"), []byte("generate-tokens-"),
}

// address and decodeAddress start the two parts of an Address.
var address, decodeAddress = []byte("___prefill_addr_"), []byte("___decode_addr_")

// form is an id without decorations.
type form struct {
	text   []byte // a part of the id
	used   Rule   // the decorations that were removed
	number int64  // number of the Index or Number that was removed, or -1
}

// strip removes the allowed decorations from id, each at most once. Only an id
// with a Prefix has suffixes of a server: otherwise a client's ids that end in
// digits would lose them.
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

// randomLen is the length of a Random, including its dash.
const randomLen = len("-9f31c2d4")

// endsRandom reports whether id ends in a dash and 8 lower-case hexadecimal
// digits, after other text.
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

// indexed removes a dash and up to 4 digits from the end of id.
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

// numbered removes up to 10 digits and an underscore from the start of id.
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

// unaddressed removes the addresses of two nodes from the start of id. The
// second address ends at the last underscore.
func unaddressed(id []byte) (rest []byte, ok bool) {
	k := bytes.LastIndexByte(id, '_')
	if !bytes.HasPrefix(id, address) || k+1 == len(id) || !bytes.Contains(id, decodeAddress) {
		return nil, false
	}
	return id[k+1:], true
}

// room appends a join_group in the form that all sources share: the number of a
// bootstrap room in decimal, anything else as written.
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

// benchmark splits an id of vLLM's benchmark client, as a server logs it, into
// the part of the client's run and the number of the request.
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
