package render

import (
	"strings"
	"testing"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

func TestTextOfReconciledCounts(t *testing.T) {
	r := sample()
	r.Query = report.Query{}
	tokens := func(v float64) report.Value { return report.Known(v, unit.Token) }
	r.Runs[0].Reconciled = []report.Reconciled{
		{Quantity: "prompt_tokens", Source: "vllm:prompt_tokens_total", Engine: tokens(3000), Finished: tokens(0), All: tokens(3000), Difference: tokens(3000), Share: report.Known(1, unit.Ratio), Rest: tokens(0), Note: "the counter is about the time between the first scrape and the last"},
		{Quantity: "output_tps", Source: "engine log", Engine: report.Known(91.10, unit.TokenRate), Finished: report.Null("n_unknown"), Difference: report.Null("n_unknown"), Share: report.Null("n_unknown"), Rest: report.Null("n_unknown")},
	}
	text := string(render(t, text80, r))
	for _, line := range strings.Split(text, "\n") {
		if columns(line) > 80 {
			t.Errorf("%d columns: %s", columns(line), line)
		}
	}
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"engine and requests the difference is aborted or unlogged", "3000 tok 0 tok 3000 tok 100 % 0 tok", "vllm:prompt_tokens_total: the counter is about the time between the first scrape and the last", "output tps"} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(textOf(t, sample()), "engine and requests") {
		t.Error("a section of nothing")
	}
	if csv := string(render(t, CSV, r)); !strings.Contains(csv, ",reconciled.prompt_tokens.vllm:prompt_tokens_total,difference,3000,tokens,") {
		t.Error("no difference in the CSV")
	}
}
