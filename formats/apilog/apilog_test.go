package apilog

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// read returns the columns of each row, and the diags as code: message.
func read(t *testing.T, text string) (rows []map[string]any, diags []string) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			row := make(map[string]any)
			for c, f := range trace.Requests.Fields {
				switch f.Type {
				case trace.Int64:
					if v, ok := b.Ints(trace.Col(c)).At(i); ok && f.Name != "offset" {
						row[f.Name] = int(v)
					}
				case trace.Text:
					if v, ok := b.Texts(trace.Col(c)).At(i); ok {
						row[f.Name] = string(v)
					}
				case trace.Dict:
					if v, ok := b.Dicts(trace.Col(c)).At(i); ok {
						row[f.Name] = b.Dicts(trace.Col(c)).Values[v]
					}
				}
			}
			rows = append(rows, row)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for _, d := range r.Diags().All() {
		diags = append(diags, d.Code+": "+d.Msg)
	}
	return rows, diags
}

const msec = 1_000_000

// TestP27TwoClocks: arrival is wall, the stamps monotonic. Queue 300, prefill 500,
// TTFT 850, rest 50 ms; nothing is subtracted across the clocks.
func TestP27TwoClocks(t *testing.T) {
	server := map[string]any{"request_id": "r1", "join_group": "r1", "side": "server", "engine": "vllm", "status": "ok", "clock": "wall",
		"received": 1700000000_000 * msec, "first_token": 1700000000_850 * msec, "d_queue": 300 * msec, "d_prefill": 500 * msec,
		"merged_leaves": "input+ingress+egress", "d_merged": 50 * msec}
	engine := map[string]any{"request_id": "r1", "join_group": "r1", "side": "engine", "engine": "vllm", "status": "ok", "clock": "monotonic",
		"queued": 5000_100 * msec, "admitted": 5000_400 * msec, "first_token": 5000_900 * msec}
	for name, text := range map[string]string{
		"flat":     `{"id":"r1","arrival_time":1700000000.000,"queued_ts":5000.100,"scheduled_ts":5000.400,"first_token_ts":5000.900,"first_token_latency":0.850}`,
		"order":    `{"first_token_latency":8.5e-1,"first_token_ts":5000.9,"scheduled_ts":5000.4,"queued_ts":5000.1,"arrival_time":1.7e9,"request_id":"r1"}`,
		"nested":   `{"request_id":"r1","metrics":{"arrival_time":1700000000.0,"queued_ts":5000.1,"scheduled_ts":5000.4,"first_token_ts":5000.9,"last_token_ts":0.0,"first_token_latency":0.85,"is_corrupted":false}}`,
		"in array": "[{\"request_id\":\"r1\",\"metrics\":{\"arrival_time\":1700000000.0,\"queued_ts\":5000.1,\"scheduled_ts\":5000.4,\"first_token_ts\":5000.9,\"first_token_latency\":0.85}},\r\n",
	} {
		rows, diags := read(t, text+"\n")
		if len(rows) != 2 || !maps.Equal(rows[0], server) || !maps.Equal(rows[1], engine) || len(diags) > 0 {
			t.Errorf("%s: %v\nwant %v\n     %v\n%v", name, rows, server, engine, diags)
		}
	}
}

// Impossible times are unknown, and both operands are named.
func TestP27Rejected(t *testing.T) {
	rows, diags := read(t, `{"id":"r1","arrival_time":1700000000,"queued_ts":5000.4,"scheduled_ts":5000.1,"first_token_ts":95000.9,"first_token_latency":-1}`+"\n")
	if len(rows) != 2 {
		t.Fatal(rows)
	}
	for _, row := range rows {
		for _, c := range []string{"d_queue", "d_prefill", "d_merged"} {
			if v, ok := row[c]; ok {
				t.Errorf("%s is %v", c, v)
			}
		}
	}
	if _, ok := rows[0]["first_token"]; ok {
		t.Error("a first token before the arrival")
	}
	if len(diags) != 1 || !strings.HasPrefix(diags[0], "impossible_duration") {
		t.Errorf("%q", diags)
	}
	for _, c := range []struct{ text, one, two string }{
		{`{"id":"a","queued_ts":5000.4,"scheduled_ts":5000.1,"last_token_ts":5001}`, "1h23m20.4s", "1h23m20.1s"},
		{`{"id":"a","arrival_time":1700000000,"first_scheduled_time":5000.4}`, "19675d22h13m20s", "1h23m20.4s"},
	} {
		if _, diags := read(t, c.text+"\n"); len(diags) != 1 || !strings.Contains(diags[0], c.one) || !strings.Contains(diags[0], c.two) {
			t.Errorf("%s: %q", c.text, diags)
		}
	}
}

// The metrics of an answer begin with the engine's queue, not with the arrival.
func TestMetricsOfAnAnswer(t *testing.T) {
	rows, _ := read(t, `{"id":"x","model":"m","choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":512,"completion_tokens":128},"metrics":{"time_to_first_token_ms":85.2,"generation_time_ms":1155.7,"queue_time_ms":12.3,"mean_itl_ms":9.1}}`+"\n")
	want := map[string]any{"request_id": "x", "side": "engine", "engine": "vllm", "model": "m", "status": "ok", "finish_reason": "stop", "clock": "request",
		"queued": 0, "admitted": 12_300_000, "first_token": 97_500_000, "last_token": 1_253_200_000, "prompt_tokens": 512, "output_tokens": 128, "output_tokens_source": "server"}
	if len(rows) != 1 || !maps.Equal(rows[0], want) {
		t.Errorf("%v, want %v", rows, want)
	}
	rows, _ = read(t, `{"id":"x","usage":{"prompt_tokens":5,"completion_tokens":7},"metrics":{"time_to_first_token_ms":null,"queue_time_ms":null}}`+"\n")
	for c := range rows[0] {
		if c == "queued" || c == "first_token" || c == "received" {
			t.Errorf("%s of nulls", c)
		}
	}
}

// Other logs of JSON lines are not taken for answers.
func TestSniff(t *testing.T) {
	for _, text := range []string{
		`{"level":"error","error":{"message":"x","type":"y"}}`,
		`{"request_parameters":"{}","id":"a","e2e_latency":1.2,"queue_time":0.1}`,
		`{"arrival":1700000000.5,"request_id":"a","token_timestamps":[1,2]}`,
		`{"timestamp":1700000000,"input_length":5,"output_length":7,"hash_ids":[1]}`,
		"{}", "", "x", `[1,2]`,
	} {
		if score, why := sniff(&formats.Head{Start: []byte(text + "\n"), Size: int64(len(text) + 1)}); score != formats.No {
			t.Errorf("%s: %d, %s", text, score, why)
		}
	}
	text := []byte(`{"usage":{"prompt_tokens":1,"completion_tokens":2}}` + "\r\n")
	before := fmt.Sprintf("%q", text)
	if score, _ := sniff(&formats.Head{Start: text, Size: int64(len(text))}); score != formats.Sure || fmt.Sprintf("%q", text) != before {
		t.Errorf("%d, %q", score, text)
	}
}
