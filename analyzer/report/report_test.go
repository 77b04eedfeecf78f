package report

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"servescope/analyzer/diag"
)

// fill sets v to random content: nil and empty slices and maps, hostile texts,
// and floats of which many are NaN or infinite.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth)
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth)
		}
	case reflect.Slice:
		if n := r.IntN(4) - 1; n >= 0 && depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i), depth-1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), depth)
		}
	case reflect.Map:
		if n := r.IntN(4) - 1; n >= 0 && depth > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, k, depth-1)
				fill(r, e, depth-1)
				v.SetMapIndex(k, e)
			}
		}
	case reflect.String:
		texts := []string{"", "a", "</script><b>", "\x00\x1b[31m\u202e", "\xff\xfe", `"\`, "p99", "é漢"}
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(4))) // a severity
	case reflect.Int64:
		v.SetInt(r.Int64() * int64(r.IntN(2)))
	case reflect.Float64:
		v.SetFloat(someFloat(r))
	case reflect.Interface: // a bound of an interval
		if r.IntN(2) == 0 {
			v.Set(reflect.ValueOf(someFloat(r)))
		}
	default:
		panic(v.Type())
	}
}

func someFloat(r *rand.Rand) float64 {
	floats := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -0.5, 1e300, 5e-324, math.MaxFloat64, r.Float64()}
	return floats[r.IntN(len(floats))]
}

// TestP78P81JSONIsStrict encodes random reports, non-finite numbers and nil
// slices included, and checks that a strict decoder and the schema accept them.
func TestP78P81JSONIsStrict(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		var rep Report
		fill(r, reflect.ValueOf(&rep).Elem(), 1+i%4)
		rep.Schema = Schema
		out, err := json.Marshal(&rep)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		for _, b := range out {
			if b < 0x20 {
				t.Fatalf("control character in %q", out)
			}
		}
		validate(t, out)
		again, err := json.Marshal(rep)
		if err != nil || !bytes.Equal(out, again) {
			t.Fatal("two encodings of one report differ")
		}
		if t.Failed() {
			return
		}
	}
}

// TestDefinitionsJSONIsStrict does the same for definitions side by side.
func TestDefinitionsJSONIsStrict(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 100 {
		var d Definitions
		fill(r, reflect.ValueOf(&d).Elem(), 1+i%4)
		d.Schema = DefinitionsSchema
		out, err := json.Marshal(&d)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%v: %s", err, out)
		}
		if validateAs(t, out, compiledDefined); t.Failed() {
			return
		}
	}
}

// TestJSONForm compares a report with the text that the contract asks for.
func TestJSONForm(t *testing.T) {
	rep := Report{Schema: Schema, Runs: []Run{{
		Label: "a", Format: "vllm-bench", Duration: KnownInt(1764428000250000001, "ns"),
		Cell: Cell{
			Requests: Requests{Total: 3, OK: 2, Failed: 1},
			Metrics: map[string]Metric{
				"ttft": {Definition: "default", Unit: "ns", N: 1, Mean: 5, Std: math.NaN(), Min: 5, Max: 5,
					Quantiles: map[string]float64{"0.5": 5, "0.99": 5}, Exact: true, Excluded: map[string]int64{"no_token": 2},
					Intervals: map[string][2]any{"0.5": {nil, math.Inf(1)}}},
				"tpot": {Definition: "default", Unit: "ns/token", Reason: "n_lt_2", Excluded: map[string]int64{"n_lt_2": 3}},
			},
			Throughput: Throughput{Values: map[string]Value{"tps": Known(1.5, "tokens/s"), "bad": Known(math.NaN(), "tokens/s")}},
		},
	}}, Diags: []diag.Diag{{Code: "bad_line", Severity: diag.DataLoss, File: "f", Offset: 10, Line: 2, Count: 1, Msg: "m"}}}
	out, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"label":"a","format":"vllm-bench","engine":"","model":"","side":"","clock":"","duration_ns":{"value":1764428000250000001,"unit":"ns"},`,
		`"requests":{"total":3,"ok":2,"failed":1,"aborted":0,"empty":0,"open":0,"head_missing":0,"filtered":0,"end_later":0,"begun_earlier":0}`,
		`"ttft":{"definition":"default","unit":"ns","n":1,"mean":5,"std":null,"min":5,"max":5,"quantiles":{"0.5":5,"0.99":5},"intervals":{"0.5":[null,null]},"exact":true,"excluded":{"no_token":2}}`,
		`"tpot":{"value":null,"reason":"n_lt_2","definition":"default","unit":"ns/token","n":0,"excluded":{"n_lt_2":3}}`,
		`"values":{"bad":{"value":null,"reason":"not_finite"},"tps":{"value":1.5,"unit":"tokens/s"}}`,
		`"goodput":null,"steps":[],"decompositions":[],"groups":[],"windows":[],"reported":[],"audit":null,"config":[],"notes":[]`,
		`"diags":[{"code":"bad_line","severity":"dataloss","file":"f","offset":10,"line":2,"count":1,"msg":"m"}]`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s\nis not in\n%s", want, out)
		}
	}
	validate(t, out)
}
