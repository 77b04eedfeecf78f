package torchtrace

import (
	"testing"

	"servescope/analyzer/trace"
)

func TestStepNames(t *testing.T) {
	const un = -1
	for text, want := range map[string]what{
		"execute_new_2_cached_7":                                        {trace.StepMixed, 7, 2, un, un, vllmCounts},
		"execute_new_0_cached_7":                                        {trace.StepDecode, 7, 0, un, un, vllmCounts},
		"execute_new_0_cached_0":                                        {trace.StepDummy, 0, 0, un, un, vllmCounts},
		"execute_context_0(0)_generation_1(1)":                          {trace.StepDecode, 1, 0, 0, 1, vllmTokens},
		"execute_context_2(14721)_generation_0(0)":                      {trace.StepPrefill, 0, 2, 14721, 0, vllmTokens},
		"execute_context_0(0)_generation_32(128)":                       {trace.StepDecode, 32, 0, 0, 128, vllmTokens},
		"execute_context_2(6144)_generation_3(3)":                       {trace.StepMixed, 3, 2, 6144, 3, vllmTokens},
		"execute_context_0(0)_generation_0(0)":                          {trace.StepDummy, 0, 0, 0, 0, vllmTokens},
		"step[EXTEND bs=4 toks=8192]":                                   {trace.StepPrefill, 0, 4, 8192, 0, sglangStep},
		"step[DECODE bs=64]":                                            {trace.StepDecode, 64, 0, 0, 64, sglangStep},
		"step[MIXED bs=2]":                                              {trace.StepMixed, un, un, un, un, sglangStep},
		"step[TARGET_VERIFY bs=3]":                                      {trace.StepVerify, 3, 0, 0, un, sglangStep},
		"step[IDLE bs=0]":                                               {trace.StepDummy, 0, 0, 0, 0, sglangStep},
		"step[SOMETHING_NEW bs=3]":                                      {unknownKind, un, un, un, un, sglangStep},
		"step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sk=12]":                {trace.StepDecode, 64, 0, 0, 128, sglangStep},
		"step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 g_sq=3 g_sk=6144]": {trace.StepMixed, 3, 2, 6144, 3, sglangStep},
		"step[EXTEND bs=2 toks=14721 c_sq=14721 c_sqsq=108745533 c_sqsk=120007533 c_sk=16221]":                 {trace.StepPrefill, 0, 2, 14721, 0, sglangStep},
		"execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)": {trace.StepMixed, 37, 9, 8155, 37, vllmDetailed},
		"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk99999999999999999999999)":   {trace.StepDecode, 32, 0, 0, 32, vllmDetailed},
		"execute_17408_context_6(sq17408sk17408sqsq59768832sqsk59768832)_generation_0(sq0sk0sqsq0sqsk0)":       {trace.StepPrefill, 0, 6, 17408, 0, vllmDetailed},
	} {
		if got, ok := parseStep([]byte(text)); !ok || got != want {
			t.Errorf("%s: %+v %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "execute_", "execute_model", "execute_context_0(0)_generation_1(1", "execute_context_0(0)_generation_1(1)x", "execute_context_(0)_generation_1(1)",
		"execute_context_0(0)_generation_99999999999(1)", "step[]", "step[DECODE bs=1", "xstep[DECODE bs=1]", "ProfilerStep#3", "execute_new_1", "execute_1_context_0(0)_generation_1(1)"} {
		if got, ok := parseStep([]byte(text)); ok {
			t.Errorf("%q: %+v, want no step", text, got)
		}
	}
}

func TestOutermost(t *testing.T) {
	s := func(process uint32, start, end int64) step { return step{process: process, start: start, end: end} }
	got := outermost([]step{s(1, 0, 10), s(0, 2, 4), s(0, 0, 10), s(0, 0, 5), s(0, 9, 12), s(0, 10, 11), s(1, 3, 4), s(0, 20, 21)})
	want := []step{s(0, 0, 10), s(0, 9, 12), s(0, 20, 21), s(1, 0, 10)}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestRanks(t *testing.T) {
	for text, want := range map[string]ranks{
		"VLLM::Worker_TP0_EP0": {-1, 0, -1, 0}, "VLLM::Worker_DP1_PP2_TP3_EP4": {1, 3, 2, 4}, "sglang::scheduler_DP1_TP3": {1, 3, -1, -1}, "TP00_DP12": {12, 0, -1, -1},
		"VLLM::EngineCore": noRanks, "python3": noRanks, "TP_x": noRanks,
	} {
		if got := ranksIn(text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for file, want := range map[string]ranks{
		"/a/b/dp1_pp0_tp3_dcp0_ep2_rank7.1782967797416735231.pt.trace.json.gz": {1, 3, 0, 2},
		"run-1753946911.1-TP-2-DP-1-EXTEND.trace.json.gz":                      {1, 2, -1, -1},
		"tp4-rank0.pt.trace.json":                                              noRanks,
		"host_139.178.pt.trace.json.gz":                                        noRanks,
		`C:\x\1753946911.1-TP-5.trace.json.gz`:                                 {-1, 5, -1, -1},
	} {
		if got := nameHint(file); got != want {
			t.Errorf("%s: %+v, want %+v", file, got, want)
		}
	}
}
