package promtext

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/trace"
)

// export returns an export of one metric of one process.
func export(process, metric string) string {
	return fmt.Sprintf(`{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.instance.id","value":{"stringValue":%q}}]},"scopeMetrics":[{"metrics":[%s]}]}]}`+"\n", process, metric)
}

// counted returns a histogram of the time to the first token: n observations up to
// half a second, that began at start.
func counted(temporality, start, t, n int, sum float64) string {
	return fmt.Sprintf(`{"name":"gen_ai.server.time_to_first_token","unit":"s","histogram":{"dataPoints":[{"startTimeUnixNano":"%d000000000","timeUnixNano":"%d000000000","count":"%d","sum":%v,"bucketCounts":["%[3]d","0"],"explicitBounds":[0.5]}],"aggregationTemporality":%[5]d}}`,
		start, t, n, sum, temporality)
}

const serverFirst = "gen_ai_server_time_to_first_token_seconds"

// TestStarts: what is counted is that since a start which is stated, over restarts,
// and over processes that report under one name; else since the first point.
func TestStarts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		n    float64
		mean float64
		span int64
	}{
		"one":               {export("a", counted(2, 100, 110, 4, 1)), 4, 0.25, 10},
		"growing":           {export("a", counted(2, 100, 110, 4, 1)) + export("a", counted(2, 100, 120, 10, 4)), 10, 0.4, 20},
		"delta":             {export("a", counted(1, 100, 110, 4, 1)) + export("a", counted(1, 110, 120, 6, 3)), 10, 0.4, 20},
		"restart":           {export("a", counted(2, 100, 110, 4, 1)) + export("a", counted(2, 115, 120, 6, 3)), 10, 0.4, 20},
		"restart that grew": {export("a", counted(2, 100, 110, 4, 1)) + export("a", counted(2, 111, 130, 16, 4)), 20, 0.25, 30},
		"one name": {export("a", counted(2, 100, 110, 4, 1)) + export("a", counted(2, 105, 111, 1, 0.5)) + export("a", counted(2, 100, 120, 8, 2)) +
			export("a", counted(2, 105, 121, 2, 0.5)), 10, 0.25, 21},
		"two processes":       {export("a", counted(2, 100, 110, 4, 1)) + export("b", counted(2, 100, 110, 6, 3)), 10, 0.4, 10},
		"start not known":     {export("a", counted(2, 110, 110, 4, 1)) + export("a", counted(2, 110, 120, 10, 4)), 6, 0.5, 10},
		"no start":            {export("a", counted(2, 0, 110, 4, 1)) + export("a", counted(2, 0, 120, 10, 4)), 6, 0.5, 10},
		"one point, no start": {export("a", counted(2, 0, 110, 4, 1)), 4, 0.25, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, c.text)
			s.want(t, serverFirst+"_count", "value", c.n)
			s.want(t, serverFirst, "mean", c.mean*1e9)
			s.want(t, serverFirst+" p99 is at most", "value", 0.5e9)
			if s.run.HasDuration != (c.span > 0) || s.run.Duration != c.span*1e9 || s.run.Engine != "" || s.run.Side != trace.Server {
				t.Errorf("%+v", s.run)
			}
		})
	}
}

// TestExportLayouts: one export is the same in every layout, and what stands between
// costs itself only.
func TestExportLayouts(t *testing.T) {
	one := strings.TrimSpace(export("a", counted(2, 100, 110, 4, 1)))
	for name, text := range map[string]string{
		"lines":      one + "\n",
		"array":      "[" + one + "]",
		"pretty":     strings.NewReplacer("{", "{\n ", ",", ",\n ").Replace(one),
		"snake":      strings.NewReplacer("resourceMetrics", "resource_metrics", "scopeMetrics", "scope_metrics", "dataPoints", "data_points", "bucketCounts", "bucket_counts", "explicitBounds", "explicit_bounds", "startTimeUnixNano", "start_time_unix_nano", "timeUnixNano", "time_unix_nano", "aggregationTemporality", "aggregation_temporality").Replace(one),
		"numbers":    strings.NewReplacer(`"count":"4"`, `"count":4`, `["4","0"]`, `[4,0]`, `"110000000000"`, `110000000000`).Replace(one),
		"signals":    `{"resourceSpans":[]}` + "\n" + one + "\n" + `{"resourceLogs":[{"resource":{}}]}`,
		"cut after":  one + "\n" + one[:len(one)-90],
		"other name": strings.Replace(one, "gen_ai.server.time_to_first_token", "gen_ai_server_time_to_first_token_seconds", 1),
	} {
		s := read(t, text)
		s.want(t, serverFirst+"_count", "value", 4)
		s.want(t, serverFirst, "mean", 0.25e9)
		if cut := name == "cut after"; (s.diag("truncated") != "") != cut || len(s.diags) > 1 {
			t.Errorf("%s: %+v", name, s.diags)
		}
		if a := s.account; a.Total != a.Parsed+a.Diagnosed+a.Noise || a.Parsed < 3 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Buckets whose number does not fit their limits, or that are no numbers, are no
// histogram.
func TestBadPoints(t *testing.T) {
	one := export("a", counted(2, 100, 110, 4, 1))
	for from, to := range map[string]string{`"explicitBounds":[0.5]`: `"explicitBounds":[0.5,1]`, `["4","0"]`: `["4","x"]`, `"timeUnixNano":"110000000000"`: `"timeUnixNano":"soon"`} {
		if s := read(t, strings.ReplaceAll(one, from, to)); s.diag("bad_sample") == "" || !math.IsNaN(s.figure(serverFirst, "mean")) {
			t.Errorf("%s: %+v", to, s.diags)
		}
	}
	if s := read(t, strings.Replace(one, `"sum":1`, `"flags":1`, 1)); len(s.diags) != 1 || s.account.Noise != 1 {
		t.Errorf("no value: %+v %+v", s.diags, s.account)
	}
}

// TestBound compares limits with roots of big floats.
func TestBound(t *testing.T) {
	for scale := -3; scale <= 20; scale++ {
		for _, i := range []int{0, 1, -1, 2, 7, -9, 100, -333, 1<<max(scale, 0) | 5, 12345, -98765} {
			if scale > 0 && i>>scale > 1000 || scale <= 0 && (i<<-scale > 1000 || i<<-scale < -1000) || scale > 0 && i>>scale < -1000 {
				continue
			}
			want := big.NewFloat(2).SetPrec(200)
			n := i
			for range max(scale, 0) {
				want.Sqrt(want)
			}
			n <<= max(-scale, 0)
			power := big.NewFloat(1).SetPrec(200)
			base := new(big.Float).SetPrec(200).Copy(want)
			for k := max(n, -n); k > 0; k >>= 1 {
				if k&1 != 0 {
					power.Mul(power, base)
				}
				base.Mul(base, base)
			}
			if n < 0 {
				power.Quo(big.NewFloat(1).SetPrec(200), power)
			}
			w, _ := power.Float64()
			if got := bound(i, scale); math.Abs(got-w) > 1e-14*w {
				t.Errorf("2^(%d/2^%d): %v, want %v", i, scale, got, w)
			}
		}
	}
}

// TestExponential: the limits hold the quantiles of the observations themselves, over
// points of different scales.
func TestExponential(t *testing.T) {
	values := []float64{0.013, 0.2, 0.21, 0.9, 1.4, 1.5, 2.7, 3, 7.5, 11}
	point := func(n, scale int) string {
		counts, sum := map[int]int{}, 0.0
		for _, v := range values[:n] {
			counts[int(math.Ceil(math.Log2(v)*math.Exp2(float64(scale))))-1]++
			sum += v
		}
		least, most := 1<<30, -1<<30
		for i := range counts {
			least, most = min(least, i), max(most, i)
		}
		var list []string
		for i := least; i <= most; i++ {
			list = append(list, fmt.Sprintf(`"%d"`, counts[i]))
		}
		return fmt.Sprintf(`{"name":"gen_ai.server.time_to_first_token","unit":"s","exponentialHistogram":{"dataPoints":[{"startTimeUnixNano":"100000000000","timeUnixNano":"%d000000000","count":"%d","sum":%v,"scale":%d,"zeroCount":"0","positive":{"offset":%d,"bucketCounts":[%s]}}],"aggregationTemporality":2}}`,
			100+n, n, sum, scale, least, strings.Join(list, ","))
	}
	for _, scales := range [][3]int{{3, 3, 3}, {6, 3, 1}, {5, 4, 0}, {2, 0, -1}} {
		s := read(t, export("a", point(4, scales[0]))+export("a", point(7, scales[1]))+export("a", point(10, scales[2])))
		s.want(t, serverFirst+"_count", "value", 10)
		width := math.Exp2(math.Exp2(-float64(scales[2])))
		for key, rank := range map[string]int{" p50": 5, " p99": 10} {
			v := values[rank-1] * 1e9
			low, high := s.figure(serverFirst+key+" is above", "value"), s.figure(serverFirst+key+" is at most", "value")
			if !(low < v && v <= high) || math.Abs(high/low/width-1) > 1e-13 {
				t.Errorf("%v%s: between %v and %v, which is not around %v and %v wide", scales, key, low, high, v, width)
			}
		}
	}
	s := read(t, export("a", strings.NewReplacer(`"scale":3`, `"scale":99`).Replace(point(4, 3))))
	s.want(t, serverFirst, "mean", (0.013+0.2+0.21+0.9)/4*1e9)
	s.want(t, serverFirst+" p50 is at most", "value", math.NaN())
}

// What follows the conventions is read from a scrape as well.
func TestConventionsInText(t *testing.T) {
	s := read(t, serverFirst+"_bucket{gen_ai_request_model=\"m\",gen_ai_operation_name=\"chat\",le=\"0.1\"} 3\n"+serverFirst+"_count{gen_ai_request_model=\"m\",gen_ai_operation_name=\"chat\"} 4\n"+
		serverFirst+"_sum{gen_ai_request_model=\"m\",gen_ai_operation_name=\"chat\"} 0.4\ngen_ai_client_token_usage_sum 5\n")
	s.want(t, serverFirst+`{gen_ai_operation_name="chat"}`, "mean", 1e8)
	s.want(t, serverFirst+`{gen_ai_operation_name="chat"} p50 is at most`, "value", 1e8)
	if s.run.Model != "m" || s.run.Engine != "" || slices.ContainsFunc(s.run.Reported, func(f trace.Reported) bool { return f.Unit == "ratio" }) {
		t.Errorf("%+v", s.run)
	}
}
