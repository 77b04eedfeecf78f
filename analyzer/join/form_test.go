package join

import "testing"

// TestP54OneRequestHasManyNames: a client's abc is told from what vLLM's API
// server and engine, SGLang's tokenizer workers and a router make of it.
func TestP54OneRequestHasManyNames(t *testing.T) {
	all := Prefix | Number | Random | Index | Address
	for _, x := range []struct {
		id, text string
		used     Rule
		number   int64
	}{
		{"abc", "abc", 0, -1},
		{"chatcmpl-abc", "abc", Prefix, -1},
		{"cmpl-abc-0", "abc", Prefix | Index, 0},
		{"chatcmpl-abc-9f31c2d4", "abc", Prefix | Random, -1},
		{"cmpl-abc-12-9f31c2d4", "abc", Prefix | Random | Index, 12},
		{"1_chatcmpl-abc-9f31c2d4", "abc", Prefix | Random | Number, 1},
		{"4711_abc", "abc", Number, 4711},
		{"cmpl-___prefill_addr_10.0.1.2:21001___decode_addr_10.0.1.3:22001_93923d63-0", "93923d63", Prefix | Index | Address, 0},
		// What looks like a decoration and is none.
		{"req-12345678", "req-12345678", 0, -1},               // a client's own number
		{"bench-1a2b3c4d-17", "bench-1a2b3c4d-17", 0, -1},     // the same
		{"chatcmpl-abc-9F31C2D4", "abc-9F31C2D4", Prefix, -1}, // vLLM writes lower case
		{"chatcmpl-abc-9f31c2d", "abc-9f31c2d", Prefix, -1},
		{"chatcmpl-", "chatcmpl-", 0, -1},
		{"cmpl--0", "-0", Prefix, -1}, // nothing would be left
		{"_abc", "_abc", 0, -1},
		{"12_", "12_", 0, -1},
		{"___prefill_addr_10.0.1.2:21001", "___prefill_addr_10.0.1.2:21001", 0, -1},
		{"3f2b1c4d-aaaa-bbbb-cccc-1234abcd5678", "3f2b1c4d-aaaa-bbbb-cccc-1234abcd5678", 0, -1},
	} {
		f := strip([]byte(x.id), all)
		if string(f.text) != x.text || f.used != x.used || f.number != x.number {
			t.Errorf("%s: %q by %s, number %d; want %q by %s, number %d", x.id, f.text, f.used, f.number, x.text, x.used, x.number)
		}
	}
	if f := strip([]byte("cmpl-abc-0-9f31c2d4"), Prefix|Index); string(f.text) != "abc-0-9f31c2d4" || f.used != Prefix {
		t.Errorf("a suffix that is not to be taken off hides the one before it: %q by %s", f.text, f.used)
	}
}

// TestRoom: SGLang writes hex(bootstrap_room) into spans and the number itself
// into logs.
func TestRoom(t *testing.T) {
	for text, want := range map[string]string{
		"0x1f2e3d": "2043453", "2043453": "2043453", "0x0": "0", "0xffffffffffffffff": "18446744073709551615",
		"0x": "0x", "0xxyz": "0xxyz", "0x1ffffffffffffffff": "0x1ffffffffffffffff", "session 7": "session 7", "": "",
	} {
		if got := string(room(nil, []byte(text))); got != want {
			t.Errorf("%q is room %q, not %q", text, got, want)
		}
	}
}

func TestBenchmarkIDs(t *testing.T) {
	for id, want := range map[string][2]string{
		"cmpl-bench-1a2b3c4d-17-0":                {"bench-1a2b3c4d-", "17"},
		"chatcmpl-bench-1a2b3c4d-17":              {"bench-1a2b3c4d-", "17"},
		"chatcmpl-bench-1a2b3c4d-17-9f31c2d4":     {"bench-1a2b3c4d-", "17"},
		"cmpl-bench-1a2b3c4d-17-0-9f31c2d4":       {"bench-1a2b3c4d-", "17"},
		"cmpl-benchmark-serving17-0":              {"benchmark-serving", "17"},
		"chatcmpl-benchmark-serving3":             {"benchmark-serving", "3"},
		"chatcmpl-bench-1a2b3c4-17":               {},
		"chatcmpl-bench-1a2b3c4d-":                {},
		"cmpl-ff6e2dc5e4144e9e8b46afd0ddf9430c-0": {},
	} {
		run, number, ok := benchmark([]byte(id))
		if got := [2]string{string(run), string(number)}; got != want || ok != (want[1] != "") {
			t.Errorf("%s: run %q, number %q, %t; want %q", id, run, number, ok, want)
		}
	}
}
