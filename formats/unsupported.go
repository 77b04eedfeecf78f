package formats

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// known are files that are recognised only to say what they are. A hint is what
// to do about it.
var known = []struct{ magic, what, hint string }{
	{"SQLite format 3\x00", "a SQLite database", "export its tables as text"},
	{"\xfd7zXZ\x00", "compressed with xz", "decompress it first: xz -d"},
	{"BZh", "compressed with bzip2", "decompress it first: bzip2 -d"},
	{"\x04\x22\x4d\x18", "compressed with lz4", "decompress it first: lz4 -d"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"},
	{"Rar!\x1a\x07", "a RAR archive", "unpack it first"},
	{"PARE", "an encrypted Parquet file", "write it without encryption"},
	{"FEA1", "a Feather file of version 1", "write it as version 2 or as Parquet: pyarrow.feather.read_feather(F).to_parquet(G)"},
	{"ORC", "an ORC file", "write it as Parquet"},
	{"Obj\x01", "an Avro file", "write it as Parquet or JSON lines"},
	{"%PDF-", "a PDF document", ""},
	{"\x89PNG", "a PNG image", ""},
	{"\x7fELF", "a program", ""},
	{"<!DOCTYPE html", "an HTML page", "save the data it shows, not the page"},
	{"<html", "an HTML page", "save the data it shows, not the page"},
	{"\x80\x02", pickle, unpickle},
	{"\x80\x03", pickle, unpickle},
	{"\x80\x04\x95", pickle, unpickle},
	{"\x80\x05\x95", pickle, unpickle},
}

const pickle = "a Python pickle, which can run code and is never loaded"

// unpickle turns a request dump or crash dump of SGLang into records that the
// format sglangexport reads. Up to v0.4.8 a dump is a list, later a dictionary with
// that list: (request, answer, created, finished), times in epoch seconds. A
// request of a crash dump that was never answered has an empty answer.
const unpickle = `if SGLang dumped it and you trust it, convert it where SGLang is installed: ` +
	`python3 -c 'import json,pickle,sys; d=pickle.load(open(sys.argv[1],"rb")); ` +
	`[print(json.dumps({"request_parameters":json.dumps({"rid":q.rid,"stream":q.stream}),"id":q.rid,"request_received_ts":t,` +
	`**({"request_finished_ts":u} if a else {"finish_reason":{"type":"abort"}}),**(a or {}).get("meta_info",{})},default=str)) ` +
	`for q,a,t,u in (d["requests"] if isinstance(d,dict) else d)]' dump.pkl > dump.jsonl`

// plainReason returns why no format can read h when that does not depend on the
// formats, or "".
func plainReason(h *Head) string {
	b := h.Start
	if len(bytes.TrimSpace(b)) == 0 {
		switch {
		case len(h.Faults) > 0:
			return "nothing could be read: " + h.Faults[0].Msg
		case !h.Whole():
			return fmt.Sprintf("the first %d bytes are blank", len(b))
		case len(b) > 0:
			return "the file holds only blank lines"
		}
		return "the file is empty"
	}
	for _, k := range known {
		if bytes.HasPrefix(b, []byte(k.magic)) {
			if k.hint != "" {
				return fmt.Sprintf("this is %s: %s", k.what, k.hint)
			}
			return fmt.Sprintf("this is %s, not a log", k.what)
		}
	}
	if keys := h.Keys(); len(keys) > 0 && keys[0].Name == "resourceLogs" {
		return "these are log records of OpenTelemetry without a line of a known server or an event of a call of a model: export its spans (exporter file of the collector, format: json, in a pipeline of traces)"
	}
	if isProtobuf(b) {
		return "this is OpenTelemetry data in protobuf, which is not read: export it as JSON (exporter file of the collector, format: json)"
	}
	if flows.Match(b) {
		return "these are flows of mitmproxy: write them as an HTTP archive, mitmdump -nr FILE --set hardump=FILE.har"
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return fmt.Sprintf("the file is binary (byte %d is 0), not text", i)
	}
	if bad := invalid(b); bad*10 > len(b) {
		return fmt.Sprintf("the file is binary or in an unknown text encoding (%d of the first %d bytes are not UTF-8)", bad, len(b))
	}
	return ""
}

// flows recognises what mitmproxy saves: netstrings, of which the first holds the others.
var flows = regexp.MustCompile(`^[0-9]+:[0-9]+:[a-z_]+[;,]`)

// isProtobuf recognises exports of OpenTelemetry in protobuf: nested messages,
// the innermost being the attributes of a resource. The file exporter of the
// collector puts the length of each before it, in 4 bytes, big-endian.
func isProtobuf(b []byte) bool {
	b = b[:min(len(b), 4096)]
	if len(b) > 4 && b[0] == 0 {
		b = b[4:]
	}
	return len(b) > 0 && b[0] == 0x0a && (bytes.Contains(b, []byte("\x0a\x0cservice.name")) || bytes.Contains(b, []byte("telemetry.sdk.")) && bytes.IndexByte(b, 0x12) >= 0)
}

// invalid counts the bytes of b that are not part of valid UTF-8.
func invalid(b []byte) int {
	n := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			n++
		}
		i += size
	}
	return n
}
