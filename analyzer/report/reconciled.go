package report

// Tokens holds numbers of tokens in W.
type Tokens struct {
	Output   Value `json:"output"`    // emitted in W, whatever became of their requests
	OutputOK Value `json:"output_ok"` // of output tokens, those of ok requests
	Prompt   Value `json:"prompt"`    // of prompts whose first token is in W
	PromptOK Value `json:"prompt_ok"` // of prompt tokens, those of ok requests
}

// Reconciled is one quantity that an engine counts itself, beside what the
// requests of the run add up to. Tokens of aborted requests are in the engine's
// count and in no finished request.
type Reconciled struct {
	Quantity   string `json:"quantity"`       // prompt_tokens, output_tokens, or their rates
	Source     string `json:"source"`         // source of the count: the name of a counter, or "engine log"
	Engine     Value  `json:"engine"`         // by the engine
	Finished   Value  `json:"finished"`       // by ok requests
	All        Value  `json:"all"`            // by all requests that emitted a token
	Difference Value  `json:"difference"`     // engine less finished: aborted or unlogged
	Share      Value  `json:"share"`          // of the engine's
	Rest       Value  `json:"unlogged"`       // engine less all: in no request of the input
	Note       string `json:"note,omitempty"` // caveat
}
