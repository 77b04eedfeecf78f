// The sample run that the page brings along: one server, seen by its own log and by
// the benchmark client in front of it.
import client from '../../../testdata/sample/vllm-bench.json' with { type: 'text' }
import server from '../../../testdata/sample/tokenlog.jsonl' with { type: 'text' }

export const samples = () => [new File([client], 'vllm-bench.json'), new File([server], 'tokenlog.jsonl')]
