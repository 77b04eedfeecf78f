package simulate

// Random draws a scenario as servers and clients of all kinds leave them behind,
// from a chat of one user to an overloaded deployment. In somewhat more than half
// of them nothing is wrong with the log; the others lack requests, mix replicas,
// come over a network or in coarse chunks, have several clocks, drift, or show no
// evidence of being complete. Whether the assumptions hold says the Truth of
// the run: what was drawn may have come to nothing.
func Random(seed uint64) Scenario {
	r := newRandom(seed, ofScenario, 0)
	s := Scenario{Seed: seed}
	s.Cost = r.cost()
	s.Prompt = r.lengths(40, 3000, 16_000)
	s.Output = r.lengths(40, 400, 4000)
	s.Engine = Engine{Replicas: 1, Policy: Policy(r.IntN(2)), Budget: 512 << r.IntN(5), MaxRunning: 16 << r.IntN(5)}
	if r.chance(0.25) {
		s.Engine.Replicas = 2
	}
	batch := 2 + float64(float64(90*r.Float64())*r.Float64())
	if r.chance(0.08) {
		r.steady(&s)
		batch = float64(s.Load.Users) / float64(s.Engine.Replicas)
	} else {
		r.load(&s, batch)
	}
	context := batch * (s.Prompt.Mean + float64(s.Output.Mean/2))
	s.Engine.Blocks = int(max(context*r.between(0.8, 5), float64(4*(s.Prompt.Mean+s.Output.Mean)))) / BlockTokens
	s.Delivery = Delivery{Delay: 2e5, Serial: r.between(0, 15e3), Jitter: r.between(0, 3e5)}
	s.Logging = Logging{Admitted: r.chance(0.75), Named: true, Counts: r.chance(0.5), Quantum: 1000, Period: 10e9, Evidence: Declared}
	if r.chance(0.3) {
		s.Logging.Quantum = 1e6
	}
	if r.chance(0.6) {
		s.Logging.Evidence = Windows + Evidence(r.IntN(2))
		s.Logging.Period = []int64{1e9, 5e9, 10e9}[r.IntN(3)]
	}
	if s.Engine.Replicas == 1 {
		s.Logging.Named = r.chance(0.3)
	}
	if r.chance(0.1) { // a client on the same host
		s.Logging.Client = true
	}
	r.flaw(&s)
	return s
}

// cost draws what steps cost, from a small model on a fast device to a large one
// on several.
func (r random) cost() Cost {
	c := Cost{
		Overhead:    r.between(0.5e6, 4e6),
		Weights:     r.between(4e6, 20e6),
		PerToken:    r.between(12e3, 70e3),
		PerContext:  r.between(8, 80),
		Curve:       r.between(0, 0.5),
		PerPair:     r.between(0.3, 3),
		Noise:       r.between(0.003, 0.06),
		StallChance: float64(0.002*r.Float64()) * r.Float64(),
		StallMean:   r.between(10e6, 80e6),
	}
	if r.chance(0.1) {
		c.StallChance *= 10
	}
	if r.chance(0.2) { // too little to matter
		c.Drift = r.between(-0.06, 0.06)
	}
	switch r.IntN(4) {
	case 0: // nothing captured
	case 1: // powers of two
		c.Graphs, c.Eager = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, r.between(0, 4e6)
	default: // as vLLM: 1, 2, 4 and multiples of 8
		c.Graphs, c.Eager = []int{1, 2, 4}, r.between(0, 4e6)
		for n := 8; n <= 512; n += 8 {
			c.Graphs = append(c.Graphs, n)
		}
	}
	return c
}

// lengths draws a distribution with a mean in [lo, hi), low ones more often.
func (r random) lengths(lo, hi float64, most int) Lengths {
	u := r.Float64()
	return Lengths{Shape: Shape(r.IntN(5)), Mean: lo + float64(float64((hi-lo)*u)*u), Max: most}
}

// stepsWanted is the number of steps that a scenario is drawn for, roughly.
const stepsWanted = 5000

// load draws arrivals that would keep each replica at the given number of
// decoding sequences, were its cache large enough.
func (r random) load(s *Scenario, batch float64) {
	capacity := int(float64(batch*(s.Prompt.Mean+s.Output.Mean))) + 1
	step := s.Cost.of(forward{tokens: int(batch), context: int64(batch * (s.Prompt.Mean + float64(s.Output.Mean/2)))}, capacity)
	prefill := s.Cost.PerToken * s.Prompt.Mean
	replicas := float64(s.Engine.Replicas)
	l := &s.Load
	l.Rate = replicas * batch * 1e9 / (float64(s.Output.Mean*step) + float64(batch*prefill))
	l.Requests = int(min(replicas*stepsWanted*batch/s.Output.Mean, 300_000/s.Output.Mean)) + 20
	switch r.IntN(4) {
	case 0:
		l.Arrivals, l.Burst = Bursts, 2+r.IntN(int(batch*replicas)+1)
	case 1:
		l.Arrivals, l.Users, l.Stagger = Closed, int(batch*replicas)+1, int64(r.between(0, 5e9))
		if r.chance(0.5) {
			l.Think = r.between(0, 3e9)
		}
	default:
		l.Arrivals = Poisson
		if r.chance(0.15) { // more than it can take
			l.Rate *= 1.5
		}
	}
}

// steady makes a scenario of one user, or of a batch that never changes.
func (r random) steady(s *Scenario) {
	s.Load = Load{Arrivals: Closed, Users: 1}
	s.Output.Mean = r.between(300, 1500)
	if r.chance(0.6) {
		s.Load.Users = s.Engine.Replicas * (2 + r.IntN(30))
		s.Prompt.Shape, s.Output.Shape = Fixed, Fixed
	}
	s.Load.Requests = s.Load.Users * (1 + int(stepsWanted/s.Output.Mean))
}

// flaw draws what is wrong with the log, mostly nothing.
func (r random) flaw(s *Scenario) {
	o := &s.Logging
	switch p := r.Float64(); {
	case p < 0.5:
	case p < 0.54: // few, as an exporter of spans drops them
		o.Missing = r.between(0.002, 0.03)
	case p < 0.66:
		o.Missing = r.between(0.2, 0.8)
		if o.Evidence == Declared && r.chance(0.75) { // the others vouch for it wrongly
			o.Evidence = Nothing
		}
	case p < 0.74:
		s.Engine.Replicas, o.Named = 2, false
		s.Load.Requests *= 2
		s.Load.Rate *= 2
		s.Load.Users *= 2
	case p < 0.80:
		o.Client = true
		s.Delivery.Network, s.Delivery.NetworkJitter = r.between(0.2e6, 40e6), r.between(0.1e6, 20e6)
	case p < 0.86:
		if s.Delivery.Coalesce = r.between(0.03, 0.7); r.chance(0.4) {
			s.Delivery.Coalesce, s.Delivery.Every = 0, 2+r.IntN(15)
		}
	case p < 0.89:
		o.Hosts, o.Skew, o.NamedClocks = 2+r.IntN(3), int64(r.between(1e6, 100e6)), r.chance(0.5)
	case p < 0.97:
		s.Cost.Jump = r.chance(0.4)
		if s.Cost.Drift = r.between(0.25, 0.8); r.chance(0.3) {
			s.Cost.Drift = -s.Cost.Drift / 1.6
		}
	default:
		o.Evidence = Nothing
	}
}
