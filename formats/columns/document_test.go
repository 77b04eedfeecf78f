package columns

import (
	"strings"
	"testing"

	"servescope/formats"
)

// TestDocument reads the records that an object holds in a list, as CloudWatch,
// Elasticsearch and data frames write them, and counts what breaks off.
func TestDocument(t *testing.T) {
	const (
		one   = `{"id":"a","took_ms":500,"ttft_ms":100}`
		two   = `{"id":"b","took_ms":600,"ttft_ms":110}`
		both  = "a ok first=100 end=500/b ok first=110 end=600"
		inner = `{\"id\":\"a\",\"took_ms\":500,\"ttft_ms\":100}`
	)
	for _, c := range []struct{ name, file, mapping, want, codes string }{
		{"CloudWatch", `{"events":[{"timestamp":1764410000100,"message":"` + inner + `"},{"timestamp":1764410001100,"message":"` + strings.ReplaceAll(inner, `"a`, `"b`) + `"}],"searchedLogStreams":[{"x":1}]}`, "",
			"a ok first=100 end=500/b ok first=100 end=500", ""},
		{"Elasticsearch", `{"took":3,"hits":{"total":{"value":2},"hits":[{"_index":"g","_source":` + one + `},{"_index":"g","_source":` + two + `}]},"x":"]}\"{"}`, "", both, ""},
		{"indented", "{\n \"data\": [\n  " + one + ",\n  " + two + "\n ]\n}\n", "", both, ""},
		{"pages", `{"rows":[` + one + `]}` + "\n" + `{"rows":[` + two + `,` + two + `]}`, "", "a ok first=100 end=500/b ok first=110 end=600/b ok first=110 end=600", ""},
		{"said", `{"rows":[` + one + `,` + two + `]}`, "e2e=rows[].ttft_ms:ms id=rows[].id", "a ok end=100/b ok end=110", ""},
		{"cut in a record", `{"rows":[` + one + `,` + two[:20], "", "a ok first=100 end=500", "truncated 1"},
		{"cut behind a record", `{"rows":[` + one + `,` + two, "", both, "truncated 1"},
		{"cut behind the list", `{"rows":[` + one + `,` + two + `],"next":"`, "", both, "truncated 1"},
		{"choices", `{"id":"x","took_ms":900,"choices":[{"ttft_ms":100},{"ttft_ms":110}]}` + "\n" + `{"id":"y","took_ms":900,"choices":[{"ttft_ms":100},{"ttft_ms":110}]}`, "", "", "mapping 1,nothing_mapped 2"},
		{"by key", `{"a":{"took_ms":500},"b":{"took_ms":600},"c":{"took_ms":700}}`, "", "", "mapping 1,nothing_mapped 1"},
		{"by key, said", `{"a":{"took_ms":500},"b":{"took_ms":600},"c":{"took_ms":700}}`, "e2e=b.took_ms:ms", " ok end=600", ""},
		{"sides", `{"id":"x","client":{"took_ms":500},"server":{"took_ms":400}}`, "", "x ok end=400", ""},
		{"of texts", `{"id":"x","took_ms":900,"messages":[{"role":"a"},{"role":"b"}]}`, "", "x ok end=900", ""},
	} {
		rows, codes, run := read(t, textSource(c.file), formats.Options{Map: strings.Fields(c.mapping)})
		if got := strings.Join(rows, "/"); got != c.want || strings.Join(codes, ",") != c.codes {
			t.Errorf("%s: %s, want %s; %v; %s", c.name, got, c.want, codes, run.NoRequests)
		}
	}
	var long strings.Builder // than the head that is looked at
	long.WriteString(`{"rows":[`)
	for long.Len() < 3*formats.HeadSize {
		long.WriteString(one + ",\n")
	}
	long.WriteString(two + "]}")
	rows, codes, _ := read(t, textSource(long.String()), formats.Options{})
	if want := strings.Count(long.String(), "took_ms"); len(rows) != want || rows[want-1] != "b ok first=110 end=600" || codes != nil {
		t.Errorf("long: %d rows, want %d; %v", len(rows), want, codes)
	}
	late := strings.Repeat(`{"id":"x","took_ms":900,"choices":[{"ttft_ms":100}]}`+"\n", 600) + `{"id":"y","took_ms":900,"choices":[{"ttft_ms":100},{"ttft_ms":110}]}`
	if rows, codes, _ := read(t, textSource(late), formats.Options{}); len(rows) != 601 || strings.Join(codes, ",") != "several_values 1" {
		t.Errorf("late: %d rows, %v", len(rows), codes)
	}
}

// TestSpreadsheet leaves out what stands around and below the rows of a table.
func TestSpreadsheet(t *testing.T) {
	const table = "id,start,took_ms\na,2026-03-01 10:00:00,500\n"
	for _, c := range []struct{ file, want, codes string }{
		{table + ",,\nb,2026-03-01 10:00:01,600\nTotal,,1100\nAverage:,,550\n", "a ok end=500/b ok end=600", "summary_row 2,zone_assumed 2"},
		{"Load test,,\n,,\n" + table, "a ok end=500", "zone_assumed 1"},
		{"# by gw, 1.2\n#\n" + table, "a ok end=500", "zone_assumed 1"},
		{"#id,start,took_ms\na,2026-03-01 10:00:00,500\n", "a ok end=500", "zone_assumed 1"},
		{table + "total,2026-03-01 10:00:01,600\n", "a ok end=500/total ok end=600", "zone_assumed 2"}, // an id
		{",took_ms\n0,500\n1,600\ncount,2\nmean,550\n25%,525\nmax,600\n", " ok end=500/ ok end=600", "summary_row 4"},
	} {
		rows, codes, run := read(t, textSource(c.file), formats.Options{})
		if got := strings.Join(rows, "/"); got != c.want || strings.Join(codes, ",") != c.codes {
			t.Errorf("%q: %s, want %s; %v; %s", c.file, got, c.want, codes, run.NoRequests)
		}
	}
}
