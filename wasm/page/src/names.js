// Short names of metrics, as people say them.
const names = { ttft: 'TTFT', tpot: 'TPOT', e2e: 'E2E', chunk_gap: 'ITL (chunk gap)', ttft_client: 'TTFT client', ttft_server: 'TTFT server', ttft_engine: 'TTFT engine', ttfot: 'TTFOT', ntpot: 'NTPOT', tps: 'Output tokens/s', tps_request: 'Output per request', tps_end_to_end: 'All tokens/s', batch_decode: 'Effective batch B', concurrency_mean: 'Mean in flight' }
export const metricName = (name) => names[name] || (name[0].toUpperCase() + name.slice(1)).replace(/[_.]/g, ' ')
