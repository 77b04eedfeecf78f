package simulate

// request is one request on its way. Times are in ns of the simulated clock.
type request struct {
	id             int
	user           int // of a closed loop
	host           int
	prompt, output int
	sent, received int64
	admitted       int64 // first time; -1 before

	replica  int
	computed int     // tokens of prompt and output that are in the KV cache
	blocks   int     // held in the KV cache
	steps    []int32 // in which each token came
	redone   []int32 // steps of its prompt and output being computed anew
	preempts int

	delivery random
	chunks   []chunk
	finished int64
}

// chunk is a chunk as it reaches the log.
type chunk struct {
	at     int64 // ns, of the simulated clock
	tokens int64
	step   int32 // of its last token
}

// known returns the number of tokens of prompt and output so far.
func (r *request) known() int { return r.prompt + len(r.steps) }

// prefilling says whether the next tokens to compute are those of a prompt, or of
// a sequence preempted. Any other sequence decodes: all of its tokens but the
// last are computed.
func (r *request) prefilling() bool { return len(r.steps) == 0 || r.known()-r.computed > 1 }

// deliver stamps the tokens as the log has them. ends are the ends of the steps.
func (r *request) deliver(s *Scenario, steps []step) {
	d, rnd := &s.Delivery, r.delivery
	held := int64(0)
	for i, k := range r.steps {
		delay := d.Delay + float64(float64(d.Serial*float64(steps[k].b))*rnd.Float64())
		at := steps[k].end + int64(delay) + rnd.delay(d.Jitter)
		if d.Network > 0 {
			at += int64(d.Network) + rnd.delay(d.NetworkJitter)
		}
		last := i == len(r.steps)-1
		wait := d.Coalesce > 0 && rnd.chance(d.Coalesce) || d.Every > 1 && i%d.Every != 0
		if held++; wait && !last {
			continue
		}
		if n := len(r.chunks); n > 0 {
			at = max(at, r.chunks[n-1].at)
		}
		r.chunks = append(r.chunks, chunk{at, held, k})
		held = 0
	}
	r.finished = r.chunks[len(r.chunks)-1].at + int64(d.Delay)
}
