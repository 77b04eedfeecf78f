package simulate

// Scenario says what to simulate. Times are in ns of the simulated clock.
type Scenario struct {
	Seed           uint64
	Load           Load
	Prompt, Output Lengths // in tokens; each pair is cut to what fits the KV cache
	Engine         Engine
	Cost           Cost
	Delivery       Delivery
	Logging        Logging
}

// Arrivals is a process of arrivals.
type Arrivals uint8

// The processes.
const (
	Poisson Arrivals = iota
	Bursts           // groups of Load.Burst requests at once; the groups are Poisson
	Closed           // Load.Users users, each sending when the last answer is there
)

// Load says when requests are sent.
type Load struct {
	Arrivals Arrivals
	Requests int     // in all, at least 1
	Rate     float64 // requests per second, of Poisson and Bursts
	Burst    int     // requests of a burst
	Users    int     // of the closed loop; they begin within Stagger
	Stagger  int64   // ns
	Think    float64 // mean ns between a user's answer and next request, exponential
}

// Shape is a shape of a distribution of lengths.
type Shape uint8

// The shapes.
const (
	Fixed       Shape = iota // Mean
	Uniform                  // Mean/2 to 3·Mean/2
	Exponential              //
	Skewed                   // the product of two exponential ones: a heavy tail
	Mixed                    // 9 of 10 are Mean/2, the others 5.5·Mean, each ± 1/4
)

// Lengths is a distribution of numbers of tokens, at least 1.
type Lengths struct {
	Shape Shape
	Mean  float64
	Max   int // longer ones are cut; 0: no limit
}

// Policy is how a scheduler mixes prompts and decoding; see the package.
type Policy uint8

// The policies.
const (
	Chunked Policy = iota
	PrefillFirst
)

// Engine is the configuration of each replica.
type Engine struct {
	Replicas   int // at least 1
	Policy     Policy
	Budget     int // tokens per step at most
	MaxRunning int // sequences at most
	Blocks     int // of BlockTokens tokens, in the KV cache
}

// BlockTokens is the size of a block of the KV cache in tokens.
const BlockTokens = 16

// Cost is what steps cost, in ns; see the package.
type Cost struct {
	Overhead   float64
	Weights    float64
	PerToken   float64
	PerContext float64
	Curve      float64 // relative growth of the cost of context up to a full cache
	PerPair    float64
	Eager      float64
	Graphs     []int // sizes captured, ascending; none: nothing is padded, nor Eager

	Noise       float64 // relative standard deviation
	StallChance float64 // of a step
	StallMean   float64 // exponential

	// Drift is how much dearer steps are at the end than at the beginning,
	// relatively: in proportion to the requests taken in so far, or, with Jump,
	// at once when half of them are.
	Drift float64
	Jump  bool
}

// Delivery is the way of tokens to the stamps of the log, in ns.
type Delivery struct {
	Delay  float64 // of every token
	Serial float64 // per sequence served before it in the step
	Jitter float64 // mean of an exponential delay

	Network       float64 // one way, of a client; 0: stamps are the server's
	NetworkJitter float64 // mean of a further exponential delay, one way

	Coalesce float64 // chance of a token to wait for the next
	Every    int     // tokens per chunk after the first token; 0 and 1: each its own
}

// Evidence is what shows that a log is complete.
type Evidence uint8

// The kinds of evidence.
const (
	Nothing  Evidence = iota
	Declared          // the caller says so, rightly or not
	Windows           // a line of the engine every Logging.Period, as vLLM's
	Steps             // a line of the engine for every step
)

// Logging is what a log holds.
type Logging struct {
	Client   bool // sent instead of received; goes with Delivery.Network
	Admitted bool // requests have the stamp admitted
	Named    bool // rows name their replica
	Counts   bool // requests have chunk_tokens
	Quantum  int64
	Missing  float64 // share of the requests that are not in the log
	Evidence Evidence
	Period   int64 // ns between two lines, of Windows

	// Hosts stamp in turn, each by a clock that is off by up to Skew ns; with
	// NamedClocks the rows say which. 0 and 1: all stamps are of one clock.
	Hosts       int
	Skew        int64
	NamedClocks bool
}

// complete returns s with the least that each part needs.
func (s Scenario) complete() *Scenario {
	for _, n := range []*int{&s.Load.Requests, &s.Load.Burst, &s.Load.Users, &s.Engine.Replicas, &s.Engine.Budget,
		&s.Engine.MaxRunning, &s.Engine.Blocks, &s.Logging.Hosts} {
		*n = max(1, *n)
	}
	if s.Load.Rate <= 0 {
		s.Load.Rate = 1
	}
	s.Logging.Quantum = max(1, s.Logging.Quantum)
	if s.Logging.Period <= 0 {
		s.Logging.Period = 10e9
	}
	s.Logging.Admitted = s.Logging.Admitted && !s.Logging.Client // a client does not see it
	return &s
}
