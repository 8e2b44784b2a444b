// Writes grafana/dashboards/calls.json from the table below: rows by question, four panels a row.
// Edit here, run `node scripts/make-dashboard.mjs && npm run fix`; a test compares the two.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const WIDTH = 24;
const PANEL_WIDTH = 6;
const PANEL_HEIGHT = 8;

const each = (metric, by) =>
  `sum by (${by}) (rate(${metric}{instance=~"$instance"}[$__rate_interval]))`;
const all = (metric) => `sum(rate(${metric}{instance=~"$instance"}[$__rate_interval]))`;
const most = (metric, by) => `max by (${by}) (${metric}{instance=~"$instance"})`;
const now = (metric, by) => `sum by (${by}) (${metric}{instance=~"$instance"})`;
const quantile = (q, metric, by = '', only = '') => {
  const labels = by === '' ? 'le' : `le, ${by}`;
  const where = only === '' ? '' : `, ${only}`;
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${metric}_bucket{instance=~"$instance"${where}}[$__rate_interval])))`;
};
const quantiles = (metric, only) =>
  [0.5, 0.95, 0.99].map((q) => [quantile(q, metric, '', only), `p${q * 100}`]);

/** Panels by row: title, unit, [expression, legend] pairs, and how to read the panel. */
const rows = {
  'Are calls failing?': [
    [
      'Calls now',
      'short',
      [[now('patchbay_calls_active', 'provider'), '{{provider}}']],
      'Calls with an open media socket.',
    ],
    [
      'Calls started',
      'cps',
      [[each('patchbay_calls_started_total', 'provider, direction'), '{{provider}} {{direction}}']],
      'A provider that falls to zero has lost its way to us.',
    ],
    [
      'Calls ended, by reason',
      'cps',
      [[each('patchbay_calls_ended_total', 'reason'), '{{reason}}']],
      'pipeline_error and unexpected_error are ours; user_hangup early in a call is about the agent.',
    ],
    [
      'Who answers',
      'cps',
      [[each('patchbay_answer_verdicts_total', 'who, evidence'), '{{who}} by {{evidence}}']],
      'Many voicemails by words, few by beep: greetings end in silence. Many by provider: the audio comes late.',
    ],
    [
      'Calls refused',
      'cps',
      [[each('patchbay_calls_refused_total', 'code'), '{{code}}']],
      'CALL_LIMIT_REACHED: raise PATCHBAY_CALL_LIMIT or add machines. GATEWAY_OVERLOADED: add machines.',
    ],
    [
      'Callers without a place',
      'cps',
      [[each('patchbay_waits_total', 'provider, outcome'), '{{provider}} {{outcome}}']],
      'admitted: they waited and got through. abandoned, timeout, full: raise the limit of calls, or give a fallback number.',
    ],
    [
      'Wait for a place',
      's',
      [
        [quantile(0.5, 'patchbay_waiting_seconds', 'outcome'), '{{outcome}} p50'],
        [quantile(0.95, 'patchbay_waiting_seconds', 'outcome'), '{{outcome}} p95'],
      ],
      'Time in the line of an inbound call that found all places taken.',
    ],
    [
      'Length of calls',
      's',
      [
        [quantile(0.5, 'patchbay_call_seconds', 'provider'), '{{provider}} p50'],
        [quantile(0.95, 'patchbay_call_seconds', 'provider'), '{{provider}} p95'],
      ],
      'Many very short calls: callers hang up on silence, or the media socket fails.',
    ],
    [
      'Webhooks',
      'reqps',
      [[each('patchbay_webhooks_total', 'provider, result'), '{{provider}} {{result}}']],
      'signature: the stored secret or the public URL is wrong.',
    ],
  ],
  'Are the PBXs there?': [
    [
      'Connections to PBXs',
      'short',
      [[now('patchbay_pbx_connections', 'provider, state'), '{{provider}} {{state}}']],
      'down: the configuration says why, as inactive_reason.',
    ],
    [
      'PBXs lost, by code',
      'cps',
      [[each('patchbay_pbx_outages_total', 'provider, code'), '{{provider}} {{code}}']],
      'A steady trickle: the network between, or a PBX that restarts.',
    ],
    [
      'PBXs back',
      'cps',
      [[each('patchbay_pbx_reconnects_total', 'provider'), '{{provider}}']],
      'As many as were lost, a moment later.',
    ],
    [
      'Calls of PBXs, by result',
      'cps',
      [[each('patchbay_pbx_calls_total', 'provider, result'), '{{provider}} {{result}}']],
      'not-configured: the dialplan sends extensions that no number of the configuration has.',
    ],
    [
      'Audio of PBX calls, by kind and result',
      'cps',
      [[each('patchbay_pbx_media_legs_total', 'kind, result'), '{{kind}} {{result}}']],
      'failed: the doctor says why. replaced: sockets that were lost while the caller was there.',
    ],
    [
      'Events of PBXs',
      'cps',
      [[each('patchbay_pbx_events_total', 'provider, result'), '{{provider}} {{result}}']],
      'Passed over: types that say nothing of calls.',
    ],
  ],
  'Do the lines work?': [
    [
      'Watched lines',
      'short',
      [[most('patchbay_line_ok', 'line, kind'), '{{kind}} {{line}}']],
      '1: the last test call found no fault. 0: one found a fault; a second one in a row, or a certain fault, raises the alert.',
    ],
    [
      'Faults of lines',
      'short',
      [[most('patchbay_line_fault', 'line, kind, fault'), '{{kind}} {{line}} {{fault}}']],
      'The alert LineFails says what to do about each.',
    ],
    [
      'Delay of lines',
      's',
      [[most('patchbay_line_delay_seconds', 'line, kind'), '{{kind}} {{line}}']],
      'One way, of a trunk there and back. Above 0.4 s (0.8 s of a trunk) people talk over each other.',
    ],
    [
      'Loss of lines',
      'percentunit',
      [[most('patchbay_line_loss_ratio', 'line, kind'), '{{kind}} {{line}}']],
      'Above 5 % speech has holes, and recognition suffers.',
    ],
    [
      'Test calls of lines',
      'cps',
      [[each('patchbay_line_tests_total', 'kind, result'), '{{kind}} {{result}}']],
      'skipped: the places of the line were taken by calls, or the gateway was about to stop.',
    ],
  ],
  'Do campaigns move?': [
    [
      'Dials of campaigns',
      'cps',
      [[each('patchbay_campaign_dials_total', 'result'), '{{result}}']],
      'put-off: the provider is at its limit; raise it there, or set calls_per_second.',
    ],
    [
      'Attempts ended, by outcome',
      'cps',
      [[each('patchbay_campaign_attempts_total', 'outcome'), '{{outcome}}']],
      'failed and unknown trip the breaker; interrupted are our own restarts.',
    ],
    [
      'Oldest contact that is due to be called again',
      's',
      [[`patchbay_campaign_retry_late_seconds{instance=~"$instance"}`, '{{instance}}']],
      'They go before new contacts. Minutes within the hours of a campaign: see why campaigns wait, or raise its limits.',
    ],
    [
      'Why campaigns wait',
      'cps',
      [[each('patchbay_campaign_deferred_total', 'reason'), '{{reason}}']],
      'slots: the organization is at its limit of calls. window: by schedule. provider: left alone after a refusal.',
    ],
  ],
  'How fast do we answer?': [
    [
      'Silence before the answer',
      's',
      quantiles('patchbay_response_seconds', 'part="total"'),
      "From the caller's last speech to the agent's first frame on the socket.",
    ],
    [
      'Where the silence goes (p95)',
      's',
      [[quantile(0.95, 'patchbay_response_seconds', 'part', 'part!="total"'), '{{part}}']],
      'endpointing is the wait for a pause, recognition and model and speech are services, gateway is the rest.',
    ],
    [
      'Yield to an interruption',
      's',
      quantiles('patchbay_barge_in_seconds'),
      "From the caller's onset to silence on the wire.",
    ],
    [
      'Interruptions',
      'ops',
      [[each('patchbay_interruptions_total', 'outcome'), '{{outcome}}']],
      'Many that come to nothing: echo, noise, or callers who only say "yes, yes".',
    ],
    [
      'Answers prepared early',
      'ops',
      [[each('patchbay_speculations_total', 'outcome'), '{{outcome}}']],
      'used saves the caller time; withdrawn and different cost tokens: a higher eager threshold has fewer.',
    ],
    [
      'Turns',
      'ops',
      [[each('patchbay_turns_total', 'source'), '{{source}}']],
      'dtmf instead of speech: the recogniser is missing or does not understand.',
    ],
    [
      'Turns in writing',
      'ops',
      [[each('patchbay_text_chat_turns_total', 'result'), '{{result}}']],
      'Failed ones count for nothing and are to be sent again: look at the model.',
    ],
  ],
  'Is audio steady?': [
    [
      'Frames',
      'ops',
      [
        [all('patchbay_frames_in_total'), 'in'],
        [all('patchbay_frames_out_total'), 'out'],
      ],
      '50 a second and call on the way in.',
    ],
    [
      'Missing frames filled',
      'percentunit',
      [
        [
          `${all('patchbay_frames_concealed_total')} / ${all('patchbay_frames_in_total')}`,
          'filled',
        ],
      ],
      'Above 1 %: packets are lost between the provider and us.',
    ],
    [
      'Underruns',
      'ops',
      [
        [all('patchbay_underruns_total'), 'synthesiser'],
        [all('patchbay_playout_gap_seconds_count'), 'gateway'],
      ],
      'Speech that stuttered because the synthesiser was late, or because the process or the way to the caller was.',
    ],
    [
      'Time lost by far ends',
      's',
      [[all('patchbay_playout_late_seconds_total'), 'lost']],
      'Seconds a second in which PBXs did not play what they had: they are short of processor time, and callers hear gaps.',
    ],
    [
      'Media clock lateness',
      's',
      quantiles('patchbay_frame_lateness_seconds'),
      'Above 20 ms callers hear it: the machine is too small or the process is blocked.',
    ],
    [
      'Time between turns of a call',
      's',
      [[most('patchbay_media_stride_seconds', 'instance, worker'), '{{instance}} {{worker}}']],
      '20 ms; 40 or 80 ms while the event loop is busy, so that more calls fit: callers are heard up to so much later.',
    ],
    [
      'Callers heard later',
      'ops',
      [[each('patchbay_media_put_off_total', 'instance, worker'), '{{instance}} {{worker}}']],
      'Turns of a call that came before its caller had been heard since the last one: the processor falls behind, and what callers hear comes first. More than now and then, and the machine carries too much.',
    ],
    [
      'Media faults',
      'ops',
      [[each('patchbay_media_faults_total', 'code'), '{{code}}']],
      'Messages and sockets that broke the protocol or a limit.',
    ],
    [
      'Packets dropped',
      'ops',
      [[each('patchbay_media_packets_dropped_total', 'kind, reason'), '{{kind}} {{reason}}']],
      'stranger: RTP from an address that is not the PBX of the call. late: the network delays more than the pipeline waits.',
    ],
    [
      'Media sockets',
      'short',
      [[`sum(patchbay_media_sockets{instance=~"$instance"})`, 'open']],
      'More sockets than calls: connections that never start.',
    ],
  ],
  'Are the services healthy?': [
    [
      "Providers' REST interfaces (p95)",
      's',
      [
        [
          quantile(0.95, 'patchbay_provider_request_seconds', 'provider, action'),
          '{{provider}} {{action}}',
        ],
      ],
      'Dialling, hanging up, transferring.',
    ],
    [
      "Providers' answers",
      'reqps',
      [
        [
          each('patchbay_provider_request_seconds_count', 'provider, result'),
          '{{provider}} {{result}}',
        ],
      ],
      'By result.',
    ],
    [
      'Time to the first result (p95)',
      's',
      [[quantile(0.95, 'patchbay_service_seconds', 'kind, service'), '{{kind}} {{service}}']],
      'Recogniser, language model and synthesiser.',
    ],
    [
      'Service results',
      'reqps',
      [[each('patchbay_service_seconds_count', 'kind, result'), '{{kind}} {{result}}']],
      'Anything but ok is an answer that the caller did not get from it.',
    ],
    [
      'Service faults',
      'ops',
      [
        [
          each('patchbay_service_faults_total', 'kind, service, fault'),
          '{{kind}} {{service}} {{fault}}',
        ],
      ],
      'auth, forbidden, request and quota go on until a key, an account or a setting changes.',
    ],
    [
      'Services not used',
      'short',
      [
        [now('patchbay_service_circuit_open', 'service'), '{{service}}'],
        [each('patchbay_service_key_full_total', 'kind, service'), '{{kind}} {{service}} key full'],
      ],
      'Accounts and settings of a service in whose place calls use the next one, because it failed; calls that did because a key had all its sessions in use.',
    ],
    [
      'Model tokens',
      'ops',
      [[each('patchbay_model_tokens_total', 'service, kind'), '{{service}} {{kind}}']],
      'What the language model costs.',
    ],
    [
      'Speech cache',
      'ops',
      [[each('patchbay_prompt_cache_total', 'result'), '{{result}}']],
      'A hit is speech without a wait.',
    ],
  ],
  'Is what follows a call done?': [
    [
      'Webhooks after calls',
      'ops',
      [[each('patchbay_deliveries_total', 'result'), '{{result}}']],
      'retry: a receiver is away. dead_letter: one refused, or was away for five attempts.',
    ],
    [
      'Oldest webhook that waits',
      's',
      [[`patchbay_delivery_oldest_seconds{instance=~"$instance"}`, '{{instance}}']],
      'Above 15 minutes: attempts are not made, or fail one after the other.',
    ],
    [
      'Reviews of calls',
      'ops',
      [[each('patchbay_reviews_total', 'result'), '{{result}}']],
      'failed: the language model that reviews does not answer.',
    ],
    [
      'Variables fetched before calls',
      'ops',
      [[each('patchbay_pre_call_fetches_total', 'result'), '{{result}}']],
      'Anything but ok: the call went on without what its agent asks for.',
    ],
    [
      'Tools in calls',
      'ops',
      [[each('patchbay_tool_seconds_count', 'tool, result'), '{{tool}} {{result}}']],
      'refused: a status of 400 or more; the model is told. timeout and failed: nobody answered.',
    ],
    [
      'Tools in calls (p95)',
      's',
      [[quantile(0.95, 'patchbay_tool_seconds', 'tool'), '{{tool}}']],
      'The caller waits for these.',
    ],
  ],
  'Is the store healthy?': [
    ['Statements', 's', quantiles('patchbay_store_seconds'), 'How long the database takes.'],
    [
      'Statements, by result',
      'ops',
      [[each('patchbay_store_seconds_count', 'result'), '{{result}}']],
      'Errors here lose runs.',
    ],
    [
      'Call events',
      'ops',
      [[each('patchbay_events_stored_total', 'result'), '{{result}}']],
      'lost: a transcript has a hole.',
    ],
    [
      'Recordings',
      'Bps',
      [[all('patchbay_recording_bytes_total'), 'written']],
      '32 kB a second and call.',
    ],
    [
      'Recordings, lost',
      'Bps',
      [[each('patchbay_recording_lost_bytes_total', 'reason'), '{{reason}}']],
      'Silence in a recording. slow, disk: the disk does not keep up or is full; late: the network.',
    ],
    [
      'Requests to S3, by operation and result',
      'reqps',
      [[each('patchbay_s3_seconds_count', 'operation, result'), '{{operation}} {{result}}']],
      'failed, timeout: S3 is away; refused: a key or the bucket is wrong. Files of calls wait on the disk.',
    ],
    ['Requests to S3', 's', quantiles('patchbay_s3_seconds'), 'Each try of a request.'],
    [
      'Files that wait for S3',
      'bytes',
      [[most('patchbay_spool_bytes', 'instance'), '{{instance}}']],
      'Bytes on the disk, those of running calls included: 32 kB a second and call.',
    ],
    [
      'Oldest file that waits for S3',
      's',
      [[most('patchbay_spool_oldest_seconds', 'instance'), '{{instance}}']],
      'Above 10 minutes: alert FilesWait.',
    ],
  ],
  'Do the gateways work together?': [
    [
      'Gateways',
      'short',
      [['count(count by (instance) (patchbay_build_info{instance=~"$instance"}))', 'living']],
      'Those that Prometheus reaches. One fewer: patchbay cluster status.',
    ],
    [
      'Calls, by gateway',
      'short',
      [[now('patchbay_calls_active', 'instance'), '{{instance}}']],
      'One without new calls is not ready, or the balancer does not reach it.',
    ],
    [
      'Clocks',
      's',
      [
        [
          'max by (instance) (abs(patchbay_clock_skew_seconds{instance=~"$instance"}))',
          '{{instance}}',
        ],
      ],
      "The database's clock against the machine's. Who lives and which claims hold goes by the database's; logs and signed links go by the machine's.",
    ],
    [
      'Media of other gateways',
      'short',
      [
        [`sum(patchbay_media_spliced{instance=~"$instance"})`, 'passed on'],
        [each('patchbay_media_adopted_total', 'source'), 'adopted/s, {{source}}'],
      ],
      'Both are 0 while the load balancer routes by the token. A few after a death are normal.',
    ],
    [
      'Deaths of processes',
      'ops',
      [
        [each('patchbay_processes_declared_dead_total', 'instance'), '{{instance}} declared dead'],
        [each('patchbay_runs_taken_over_total', 'instance'), '{{instance}} runs taken over'],
        [each('patchbay_calls_resumed_total', 'result'), 'calls that go on: {{result}}'],
        [each('patchbay_run_changes_fenced_total', 'instance'), '{{instance}} changes refused'],
        [each('patchbay_pbx_lease_takeovers_total', 'instance'), '{{instance}} PBXs taken over'],
      ],
      'Processes whose heartbeats stopped, the calls that others took over from them, and what they still wrote.',
    ],
    [
      'Redis',
      'short',
      [['min by (instance) (patchbay_redis_up{instance=~"$instance"})', '{{instance}}']],
      '1: other gateways are reached over Redis. 0: Redis is away, and each gateway acts alone.',
    ],
    [
      'Other gateways known',
      'short',
      [[most('patchbay_gateways_known', 'instance'), '{{instance}}']],
      'Each gateway should know all others.',
    ],
    [
      'Messages between gateways',
      'ops',
      [[each('patchbay_gateway_messages_total', 'result'), '{{result}}']],
      'Unsent: Redis was away or too slow. Refused: from a gateway with other keys, or from somebody else at Redis.',
    ],
  ],
  'Is the process healthy?': [
    [
      'Load, and what one more call adds',
      'percentunit',
      [
        [most('patchbay_load_ratio', 'instance, worker, part'), '{{instance}} {{worker}} {{part}}'],
        [most('patchbay_call_load_ratio', 'instance, worker'), '{{instance}} {{worker}} one call'],
        [most('patchbay_overloaded', 'instance, worker'), '{{instance}} {{worker}} refuses'],
      ],
      'Above PATCHBAY_LOAD_LIMIT new calls are refused as busy, and campaigns wait: add a gateway.',
    ],
    [
      'Delay of timers',
      's',
      [[most('patchbay_loop_delay_seconds', 'instance, worker'), '{{instance}} {{worker}}']],
      'Above PATCHBAY_DELAY_LIMIT_MS for three seconds new calls are refused.',
    ],
    [
      'HTTP requests',
      'reqps',
      [[each('patchbay_request_seconds_count', 'status'), '{{status}}']],
      'By status class.',
    ],
    [
      'HTTP requests, p95 by route',
      's',
      [[quantile(0.95, 'patchbay_request_seconds', 'route'), '{{route}}']],
      'The slowest route shows first.',
    ],
    [
      'API admissions, by class and result',
      'reqps',
      [[each('patchbay_admission_seconds_count', 'class, result'), '{{class}} {{result}}']],
      'refused: one organization or address sends more than its share. busy: the API has more work than it can do.',
    ],
    [
      'API requests that wait',
      'short',
      [
        [most('patchbay_admissions_waiting', 'class'), '{{class}} waiting'],
        [quantile(0.95, 'patchbay_admission_seconds', 'class'), '{{class}} p95 seconds'],
      ],
      'Waits above a second: add a gateway, or find who sends so much.',
    ],
    [
      'Versions',
      'short',
      [
        [
          'count by (version, node) (count by (instance, version, node) (patchbay_build_info{instance=~"$instance"}))',
          'Patchbay {{version}}, Node.js {{node}}',
        ],
      ],
      'Gateways by version. Two versions for longer than an update takes: one was forgotten.',
    ],
    [
      'Kernels in use',
      'short',
      [[now('patchbay_kernel_in_use', 'kernel, instructions'), '{{kernel}} {{instructions}}']],
      'Of the detector: wasm costs six times the CPU of the addon (npm run build:native), portable a hundred times.',
    ],
    [
      'Runtime features replaced',
      'short',
      [[now('patchbay_runtime_fallback', 'feature'), '{{feature}}']],
      'Processes in which a feature failed its self-test at start (RUNTIME_FALLBACK in the log): calls go on, for more CPU.',
    ],
    [
      'Speech detection, windows',
      'ops',
      [[each('patchbay_vad_windows_total', 'outcome'), '{{outcome}}']],
      'Of 32 ms, 31 a second and call. Skipped: in silence, no louder than the noise of the line.',
    ],
    [
      'Workers',
      'short',
      [
        ['sum(patchbay_workers{instance=~"$instance"})', 'serving'],
        [
          'sum(increase(patchbay_worker_deaths_total{instance=~"$instance"}[$__rate_interval]))',
          'died',
        ],
        [
          'sum(increase(patchbay_live_items_dropped_total{instance=~"$instance"}[$__rate_interval]))',
          'live items dropped',
        ],
        [
          'sum(increase(patchbay_worker_kills_total{instance=~"$instance"}[$__rate_interval]))',
          'killed without a heartbeat',
        ],
      ],
      'Fewer than PATCHBAY_WORKERS: one does not come up; the log says why. 0: the gateway is one process. Live items dropped: event streams miss some, such as interim words.',
    ],
    [
      'Messages between processes, dropped',
      'ops',
      [
        [
          'sum(rate(patchbay_ipc_dropped_total{instance=~"$instance"}[$__rate_interval]))',
          'dropped',
        ],
      ],
      'The process that they are for does not read: it is busy for seconds, or stands still and is killed.',
    ],
    [
      'Log lines, dropped',
      'short',
      [
        [
          'sum(increase(patchbay_log_lines_dropped_total{instance=~"$instance"}[$__rate_interval]))',
          'dropped',
        ],
      ],
      'Standard output did not take them: the disk is full, the pipe is broken, or its reader is slow. Calls go on without a log.',
    ],
    [
      'CPU',
      'percentunit',
      [
        [
          `rate(process_cpu_seconds_total{instance=~"$instance"}[$__rate_interval])`,
          '{{instance}} {{worker}}',
        ],
      ],
      'One core is 100 %.',
    ],
    [
      'Memory',
      'bytes',
      [
        [
          `process_resident_memory_bytes{instance=~"$instance"}`,
          '{{instance}} {{worker}} resident',
        ],
        [`nodejs_heap_size_used_bytes{instance=~"$instance"}`, '{{instance}} {{worker}} heap'],
      ],
      'Grows with calls and falls after them.',
    ],
    [
      'Event loop lag (p99)',
      's',
      [[`nodejs_eventloop_lag_p99_seconds{instance=~"$instance"}`, '{{instance}} {{worker}}']],
      'Everything in the process waits this long.',
    ],
    [
      'Garbage collection',
      'percentunit',
      [[each('nodejs_gc_duration_seconds_sum', 'kind'), '{{kind}}']],
      'Share of time.',
    ],
    [
      'Open files',
      'short',
      [
        [`process_open_fds{instance=~"$instance"}`, '{{instance}} {{worker}} open'],
        [`process_max_fds{instance=~"$instance"}`, '{{instance}} {{worker}} limit'],
      ],
      'Sockets count.',
    ],
  ],
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = new URL('../grafana/dashboards/calls.json', import.meta.url);
  writeFileSync(target, `${JSON.stringify(dashboard(), null, 2)}\n`);
}

export function dashboard() {
  return {
    uid: 'patchbay-calls',
    title: 'Patchbay: calls',
    tags: ['patchbay'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    timezone: 'browser',
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: variables() },
    panels: panels(),
  };
}

function variables() {
  return [
    { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
    {
      name: 'instance',
      label: 'Gateway',
      type: 'query',
      datasource: source(),
      definition: 'label_values(patchbay_build_info, instance)',
      query: { query: 'label_values(patchbay_build_info, instance)', refId: 'instance' },
      refresh: 2,
      includeAll: true,
      multi: true,
      allValue: '.*',
      current: { text: 'All', value: '$__all' },
    },
  ];
}

function panels() {
  const list = [];
  let y = 0;
  for (const [question, members] of Object.entries(rows)) {
    list.push({
      id: list.length + 1,
      type: 'row',
      title: question,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, member] of members.entries()) {
      const x = (index * PANEL_WIDTH) % WIDTH;
      const top = y + Math.floor((index * PANEL_WIDTH) / WIDTH) * PANEL_HEIGHT;
      list.push(panel(list.length + 1, { x, y: top, w: PANEL_WIDTH, h: PANEL_HEIGHT }, member));
    }
    y += Math.ceil((members.length * PANEL_WIDTH) / WIDTH) * PANEL_HEIGHT;
  }
  return list;
}

function panel(id, gridPos, [title, unit, queries, description]) {
  return {
    id,
    type: 'timeseries',
    title,
    description,
    datasource: source(),
    gridPos,
    fieldConfig: {
      defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      expr,
      legendFormat,
    })),
  };
}

function source() {
  return { type: 'prometheus', uid: '$datasource' };
}
