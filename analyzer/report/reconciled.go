package report

// Tokens holds numbers of tokens in W.
type Tokens struct {
	Output   Value `json:"output"`    // emitted in W, whatever became of their requests
	OutputOK Value `json:"output_ok"` // those of ok requests
	Prompt   Value `json:"prompt"`    // of prompts whose first token is in W
	PromptOK Value `json:"prompt_ok"` // those of ok requests
}

func (t *tidier) tokens(x *Tokens) {
	t.add("tokens", "output", x.Output)
	t.add("tokens", "output_ok", x.OutputOK)
	t.add("tokens", "prompt", x.Prompt)
	t.add("tokens", "prompt_ok", x.PromptOK)
}

// Reconciled is one quantity that an engine counts itself, beside what the
// requests of the run add up to. Tokens of aborted requests are in the engine's
// count and in no finished request.
type Reconciled struct {
	Quantity   string `json:"quantity"`       // prompt_tokens, output_tokens, or their rates
	Source     string `json:"source"`         // who counts: the name of a counter, or "engine log"
	Engine     Value  `json:"engine"`         // by the engine
	Finished   Value  `json:"finished"`       // by ok requests
	All        Value  `json:"all"`            // by all requests that emitted a token
	Difference Value  `json:"difference"`     // engine less finished: aborted or unlogged
	Share      Value  `json:"share"`          // of the engine's
	Rest       Value  `json:"unlogged"`       // engine less all: in no request of the input
	Note       string `json:"note,omitempty"` // caveat
}

func (t *tidier) reconciled(list []Reconciled) {
	for i := range list {
		r := &list[i]
		name := "reconciled." + r.Quantity + "." + r.Source
		t.add(name, "engine", r.Engine)
		t.add(name, "finished", r.Finished)
		t.add(name, "all", r.All)
		t.add(name, "difference", r.Difference)
		t.add(name, "share", r.Share)
		t.add(name, "unlogged", r.Rest)
	}
}
