import { text } from './format.js'

// Reason codes in words, as they stand beside a null.
const words = {
  no_token: 'the request produced no token',
  no_answer_token: 'the request ended while it was reasoning',
  n_lt_2: 'fewer than two tokens, or chunks',
  n_unknown: 'nobody counted the tokens',
  not_streamed: 'the response came in one piece',
  not_recorded: 'not recorded by the source',
  pending: 'not read yet: this is a report of some of the requests',
  first_token_recorded: 'the first token itself is recorded: nothing to bound',
  clock: 'no common clock',
  clock_mismatch: 'no common clock',
  order: 'the end is stamped before the start',
  coverage: 'the input does not hold all replicas, or does not tell them apart',
  failed: 'the request failed',
  aborted: 'the request was cancelled',
  empty: 'no token came',
  open: 'the log ends before the request does',
  head_missing: 'the log begins after the request did',
  bucket_longer_than_run: 'shorter than the one-second bucket',
  no_span: 'the interval has no length',
  whole_run_only: 'a figure of whole runs, not of a part of the time',
  open_loop: 'concurrency is not held at a limit: no plateau by design',
  few_requests: 'too few requests',
  no_plateau: 'concurrency has no plateau',
  no_objective: 'no limit is set',
  unknown_verdicts: 'some requests cannot be judged, and the bounds differ',
  inconsistent: 'the counts contradict each other',
  preempted: 'sequences stalled, and where in time is not recorded',
  not_joined: 'no row of that side is linked',
  outside_total: 'outside the time that is taken apart',
  resolution: 'the stamps are coarser than the time between them',
  overlap: 'stages of two nodes run at the same time',
  not_defined: 'the definition set has no such figure',
  no_client_count: 'no count of the text by a client',
  few_steps: 'too few steps',
  filtered: 'the filter keeps a part of the requests, and engines log all of them',
  population: 'the figures are of different sets of requests',
  not_separable: 'no source tells the stages apart',
  no_requests: 'there are no requests',
  too_many: 'more buckets of time than are kept',
  not_finite: 'not a finite number',
  beam: 'beam search: the tokens are not of one sequence',
  async: 'steps overlap: the engine schedules ahead',
  pipeline: 'several pipeline ranks work on a token in turn',
  merged: 'measured together with other stages',
}

export const reason = (code) => code ? words[code] || code.replace(/_/g, ' ') : 'unknown'

// left words what is left out, behind a number: "1 failed".
const left = {
  empty: 'without any token', open: 'still open', head_missing: 'begun before the log', no_token: 'without any token', n_lt_2: 'with fewer than two output tokens', n_unknown: 'with unknown output length',
  not_streamed: 'not streamed', clock: 'without a common clock', clock_mismatch: 'without a common clock', not_joined: 'not linked with a row of that side', order: 'with stamps out of order', resolution: 'finer than the clock resolves',
  no_answer_token: 'without an answer', no_span: 'without a span of time', inconsistent: 'with counts that contradict each other', coverage: 'of replicas that are not all there',
}

// excluded words what a metric leaves out: "1 failed, 2 not streamed".
export const excluded = (map) => Object.entries(map || {}).filter(([, n]) => n > 0).map(([code, n]) => n + ' ' + (left[code] || code.replace(/_/g, ' '))).join(', ')

// plainly is a note without the code in front, which is for programs, and with its times
// in units for people.
export const plainly = (note) => note.replace(/^[a-z0-9_]+: /, '').replace(/(?<![\w.])\d{4,} ns\b/g, (s) => text('ns', parseInt(s)))
