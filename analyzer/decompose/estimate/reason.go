package estimate

// Reason is the code of the reason why something cannot be told.
type Reason string

// The reasons.
const (
	None          Reason = ""
	Uncovered     Reason = "coverage"             // nothing shows that all requests of a replica are in the log, or to which replica they belong
	Clock         Reason = "clock"                // the stamps of a replica belong to several clocks
	NotRecorded   Reason = "not_recorded"         // rows do not tell when requests began
	NotResolvable Reason = "steps_not_resolvable" // stamps do not tell steps apart
	FewSteps      Reason = "few_steps"            // there are fewer than 200 clean steps
	NotConstant   Reason = "not_stationary"       // what a step costs changed within the log
	Unexplained   Reason = "unexplained_stalls"   // clean steps are too often too long: requests are missing
	WideInterval  Reason = "wide_interval"        // the interval of the share is wider than 10 points
	TooMany       Reason = "too_many"             // there are more tokens than are kept
)
