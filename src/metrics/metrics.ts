// Every metric of the gateway for Prometheus, declared once: name, unit, help, bounded labels. Folders import the
// instances; the API's /metrics reads the registry.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { FrameCounter } from './computed-metrics.ts';

export const registry = new Registry();
const registers = [registry];

/** Registers the process and Node.js metrics. Called once by main. */
export function collectProcessMetrics(): void {
  collectDefaultMetrics({ register: registry });
}

const buildInfo = new Gauge({
  name: 'patchbay_build_info',
  help: '1, with the version of the gateway, of Node.js, and what it runs on',
  labelNames: ['version', 'node', 'platform', 'arch'] as const,
  registers,
});

/** Sets the version. Called once by main of every process. */
export function setBuildInfo(version: string): void {
  const { version: node, platform, arch } = process;
  buildInfo.set({ version, node, platform, arch }, 1);
}

export const LATENCY_SECONDS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 5];

export const callsStarted = new Counter({
  name: 'patchbay_calls_started_total',
  help: 'Calls that were created, by provider and direction',
  labelNames: ['provider', 'direction'] as const,
  registers,
});
export const callsEnded = new Counter({
  name: 'patchbay_calls_ended_total',
  help: 'Calls that ended, by provider and end reason',
  labelNames: ['provider', 'reason'] as const,
  registers,
});
export const callsActive = new Gauge({
  name: 'patchbay_calls_active',
  help: 'Calls with an open media socket',
  labelNames: ['provider'] as const,
  registers,
});
/** Verdicts of the answer supervisor; one call may have several. */
export const answerVerdicts = new Counter({
  name: 'patchbay_answer_verdicts_total',
  help: 'Verdicts on who has answered outbound calls, by the evidence',
  labelNames: ['who', 'evidence'] as const,
  registers,
});
export const callsRefused = new Counter({
  name: 'patchbay_calls_refused_total',
  help: 'Calls that were refused, by error code',
  labelNames: ['code'] as const,
  registers,
});
export const waits = new Counter({
  name: 'patchbay_waits_total',
  help: 'Inbound calls that found all places taken, by outcome: admitted, abandoned, timeout, forwarded, or full if the line had no room',
  labelNames: ['provider', 'outcome'] as const,
  registers,
});
export const waitingSeconds = new Histogram({
  name: 'patchbay_waiting_seconds',
  help: 'Time that callers waited for a place, by outcome',
  labelNames: ['outcome'] as const,
  buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600],
  registers,
});
export const overloaded = new Gauge({
  name: 'patchbay_overloaded',
  help: '1 while new calls are refused because of the load',
  registers,
});
export const processLoad = new Gauge({
  name: 'patchbay_load_ratio',
  help: 'Load of the last second that admission control uses, by part: loop (share of time in which the event loop had work) or cpu (of the processors that the process may use)',
  labelNames: ['part'] as const,
  registers,
});
export const loopDelaySeconds = new Gauge({
  name: 'patchbay_loop_delay_seconds',
  help: 'How late 95 of 100 timers were at most in the last second',
  registers,
});
export const callLoad = new Gauge({
  name: 'patchbay_call_load_ratio',
  help: 'Estimated load of one more call',
  registers,
});
export const campaignDials = new Counter({
  name: 'patchbay_campaign_dials_total',
  help: 'Dials of campaigns, by result: placed, put-off (the provider was at its limit), fault (it was not reached), in-doubt (it failed, and a call may be placed), refused or closed (not fit to be sent)',
  labelNames: ['result'] as const,
  registers,
});
export const campaignDeferred = new Counter({
  name: 'patchbay_campaign_deferred_total',
  help: 'Checks of a campaign that placed no dial, by reason: window, slots, provider or load',
  labelNames: ['reason'] as const,
  registers,
});
export const campaignAttempts = new Counter({
  name: 'patchbay_campaign_attempts_total',
  help: 'Attempts of campaigns that ended, by outcome',
  labelNames: ['outcome'] as const,
  registers,
});
export const campaignRetryLateSeconds = new Gauge({
  name: 'patchbay_campaign_retry_late_seconds',
  help: 'Longest time for which a retry of a running campaign has been due',
  registers,
});
export const callSeconds = new Histogram({
  name: 'patchbay_call_seconds',
  help: 'Length of calls from the media socket opening to the end',
  labelNames: ['provider'] as const,
  buckets: [5, 15, 30, 60, 120, 300, 600, 1200],
  registers,
});

export const responseSeconds = new Histogram({
  name: 'patchbay_response_seconds',
  help: "From the caller's last speech to the agent's first frame on the socket, by part",
  labelNames: ['part'] as const,
  buckets: [0.001, 0.005, 0.01, 0.02, ...LATENCY_SECONDS],
  registers,
});
export const bargeInSeconds = new Histogram({
  name: 'patchbay_barge_in_seconds',
  help: "From the caller's speech onset to silence on the wire",
  buckets: LATENCY_SECONDS,
  registers,
});
export const turns = new Counter({
  name: 'patchbay_turns_total',
  help: 'Turns that ended, by speaker and source of the words',
  labelNames: ['source'] as const,
  registers,
});
export const textChatTurns = new Counter({
  name: 'patchbay_text_chat_turns_total',
  help: 'Turns of text chats, by result: answered or failed',
  labelNames: ['result'] as const,
  registers,
});
export const speculations = new Counter({
  name: 'patchbay_speculations_total',
  help: 'Speculative answers, requested from a model before the end of a turn was certain, by outcome',
  labelNames: ['outcome'] as const,
  registers,
});
export const interruptions = new Counter({
  name: 'patchbay_interruptions_total',
  help: 'Possible interruptions by callers (barge-in), by outcome',
  labelNames: ['outcome'] as const,
  registers,
});

export const framesIn = new FrameCounter({
  name: 'patchbay_frames_in_total',
  help: 'Audio frames (20 ms) received from callers',
  registers,
});
export const framesOut = new FrameCounter({
  name: 'patchbay_frames_out_total',
  help: 'Audio frames (20 ms) sent to callers',
  registers,
});
export const framesConcealed = new Counter({
  name: 'patchbay_frames_concealed_total',
  help: 'Missing frames of callers that packet loss concealment filled',
  registers,
});
export const underruns = new Counter({
  name: 'patchbay_underruns_total',
  help: 'Times an utterance had begun and no audio was available for the next frame',
  registers,
});
export const playoutGapSeconds = new Histogram({
  name: 'patchbay_playout_gap_seconds',
  help: 'Silence within speech that callers heard although the audio was there: the process or their connection was late',
  buckets: [0.02, 0.05, 0.1, 0.2, 0.5, 1, 5],
  registers,
});
export const lateSeconds = new Counter({
  name: 'patchbay_playout_late_seconds_total',
  help: 'Time that far ends lost while they played our audio: a PBX that is short of processor time',
  registers,
});
export const frameLatenessSeconds = new Histogram({
  name: 'patchbay_frame_lateness_seconds',
  help: 'Delay of ticks of the media clock',
  buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5],
  registers,
});
export const mediaStrideSeconds = new Gauge({
  name: 'patchbay_media_stride_seconds',
  help: 'Between two turns of a call: 20 ms, or longer while the process is busy',
  registers,
});
export const mediaPutOff = new Counter({
  name: 'patchbay_media_put_off_total',
  help: 'Media turns of a call without a read of the caller audio since the last turn: the process is behind, and outgoing audio has priority',
  registers,
});
export const mediaFaults = new Counter({
  name: 'patchbay_media_faults_total',
  help: 'Media messages and sockets that broke the protocol or a limit, by error code',
  labelNames: ['code'] as const,
  registers,
});
export const packetsDropped = new Counter({
  name: 'patchbay_media_packets_dropped_total',
  help: 'Audio packets of PBXs that were dropped, by kind (rtp, audiosocket) and reason: stranger, malformed, type, late, duplicate, flood or stalled (ours)',
  labelNames: ['kind', 'reason'] as const,
  registers,
});
export const mediaAdopted = new Counter({
  name: 'patchbay_media_adopted_total',
  help: 'Waiting calls that were adopted with their media, from another gateway or from a worker of the same one',
  labelNames: ['source'] as const,
  registers,
});
export const mediaSpliced = new Gauge({
  name: 'patchbay_media_spliced',
  help: 'Sockets of other gateways that are passed on to them, now',
  registers,
});
export const mediaSockets = new Gauge({
  name: 'patchbay_media_sockets',
  help: 'Open media sockets',
  registers,
});

export const webhooks = new Counter({
  name: 'patchbay_webhooks_total',
  help: "Providers' webhooks, by provider and result",
  labelNames: ['provider', 'result'] as const,
  registers,
});
export const pbxConnections = new Gauge({
  name: 'patchbay_pbx_connections',
  help: 'Connections to PBXs that this gateway holds, by provider and state: connecting, up or down',
  labelNames: ['provider', 'state'] as const,
  registers,
});
export const pbxOutages = new Counter({
  name: 'patchbay_pbx_outages_total',
  help: 'Times a PBX was lost or not reached, by error code',
  labelNames: ['provider', 'code'] as const,
  registers,
});
export const pbxLeaseTakeovers = new Counter({
  name: 'patchbay_pbx_lease_takeovers_total',
  help: 'Connections to PBXs that this process took over from one that had not renewed its lease',
  registers,
});
export const pbxReconnects = new Counter({
  name: 'patchbay_pbx_reconnects_total',
  help: 'Times a PBX was reconnected',
  labelNames: ['provider'] as const,
  registers,
});
export const pbxCalls = new Counter({
  name: 'patchbay_pbx_calls_total',
  help: 'Calls of PBXs that arrived or were answered, by result: connected, gone, failed or the reason of the refusal',
  labelNames: ['provider', 'result'] as const,
  registers,
});
export const pbxEvents = new Counter({
  name: 'patchbay_pbx_events_total',
  help: 'Events received from PBXs, by whether they were handled or ignored',
  labelNames: ['provider', 'result'] as const,
  registers,
});
export const pbxLegs = new Counter({
  name: 'patchbay_pbx_media_legs_total',
  help: 'Audio of PBX calls, by its kind and result: opened, failed or replaced',
  labelNames: ['kind', 'result'] as const,
  registers,
});
export const providerRequestSeconds = new Histogram({
  name: 'patchbay_provider_request_seconds',
  help: "Requests to providers' REST interfaces",
  labelNames: ['provider', 'action', 'result'] as const,
  buckets: LATENCY_SECONDS,
  registers,
});

export const deliveries = new Counter({
  name: 'patchbay_deliveries_total',
  help: 'Attempts to deliver webhooks after calls, by result',
  labelNames: ['result'] as const,
  registers,
});
export const deliveryOldestSeconds = new Gauge({
  name: 'patchbay_delivery_oldest_seconds',
  help: 'Age of the oldest webhook that is neither delivered nor given up',
  registers,
});
export const reviews = new Counter({
  name: 'patchbay_reviews_total',
  help: 'Reviews of calls by language models, by result',
  labelNames: ['result'] as const,
  registers,
});
export const preCallFetches = new Counter({
  name: 'patchbay_pre_call_fetches_total',
  help: 'Requests for variables before the first word of a call, by result',
  labelNames: ['result'] as const,
  registers,
});
export const toolSeconds = new Histogram({
  name: 'patchbay_tool_seconds',
  help: "Requests and transfers of agents' tools in calls, by kind and result",
  labelNames: ['tool', 'result'] as const,
  buckets: LATENCY_SECONDS,
  registers,
});
export const storeSeconds = new Histogram({
  name: 'patchbay_store_seconds',
  help: 'Statements to the database',
  labelNames: ['result'] as const,
  buckets: [0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  registers,
});
export const eventsStored = new Counter({
  name: 'patchbay_events_stored_total',
  help: 'Call events written to the log, and lost',
  labelNames: ['result'] as const,
  registers,
});
export const nodesDeclaredDead = new Counter({
  name: 'patchbay_processes_declared_dead_total',
  help: 'Processes, of any gateway, that this one declared dead because their heartbeats had stopped',
  registers,
});
export const runsTakenOver = new Counter({
  name: 'patchbay_runs_taken_over_total',
  help: 'Open runs that this process took over from a dead one',
  registers,
});
export const callsResumed = new Counter({
  name: 'patchbay_calls_resumed_total',
  help: 'Calls whose process died or whose media broke off: resumed here, closed because they could not go on, or closed because no media came',
  labelNames: ['provider', 'result'] as const,
  registers,
});
export const runChangesFenced = new Counter({
  name: 'patchbay_run_changes_fenced_total',
  help: 'Changes of runs that were refused: another process has taken the run over, or it is deleted',
  registers,
});
export const recordingBytes = new Counter({
  name: 'patchbay_recording_bytes_total',
  help: 'Bytes of recordings written',
  registers,
});
export const recordingLostBytes = new Counter({
  name: 'patchbay_recording_lost_bytes_total',
  help: 'Bytes of recordings that are silence instead, by reason: slow (the disk did not keep up), disk (a write failed) or late (they arrived too late)',
  labelNames: ['reason'] as const,
  registers,
});
export const vadWindows = new Counter({
  name: 'patchbay_vad_windows_total',
  help: 'Windows of 32 ms that voice activity detection (VAD) evaluated, and that it skipped as no louder than the noise',
  labelNames: ['outcome'] as const,
  registers,
});
export const workersUp = new Gauge({
  name: 'patchbay_workers',
  help: 'Worker processes that serve; 0 if the gateway is one process',
  registers,
});
export const workerDeaths = new Counter({
  name: 'patchbay_worker_deaths_total',
  help: 'Worker and API processes that died and were started again, by reason: heap_limit, signal, exit, not_started',
  labelNames: ['reason'] as const,
  registers,
});
export const workerKills = new Counter({
  name: 'patchbay_worker_kills_total',
  help: 'Worker and API processes that the supervisor killed because their heartbeat had stopped',
  registers,
});
export const ipcDropped = new Counter({
  name: 'patchbay_ipc_dropped_total',
  help: 'Messages between processes that were dropped because the other process does not read',
  registers,
});
export const redisUp = new Gauge({
  name: 'patchbay_redis_up',
  help: '1 while Redis is there, 0 while it is away, by what it is for: messages (between gateways); absent without REDIS_URL',
  labelNames: ['kind'] as const,
  registers,
});
export const gatewaysKnown = new Gauge({
  name: 'patchbay_gateways_known',
  help: 'Other gateways that this one knows over Redis',
  registers,
});
export const gatewayMessages = new Counter({
  name: 'patchbay_gateway_messages_total',
  help: 'Messages between gateways, by result: sent, received, unsent (Redis did not take it in time) or refused (not of a gateway with our keys, or not readable)',
  labelNames: ['result'] as const,
  registers,
});
export const liveItemsDropped = new Counter({
  name: 'patchbay_live_items_dropped_total',
  help: 'Live items of calls, such as interim words, that were not sent to the API process or another gateway because there were too many',
  registers,
});
export const logLinesDropped = new Counter({
  name: 'patchbay_log_lines_dropped_total',
  help: 'Log lines that standard output did not accept: a full disk, a broken pipe or a slow reader',
  registers,
});
export const runtimeFallback = new Gauge({
  name: 'patchbay_runtime_fallback',
  help: '1 for a runtime feature that failed its self-test at start, so that its plain fallback is used',
  labelNames: ['feature'] as const,
  registers,
});
export const kernelInUse = new Gauge({
  name: 'patchbay_kernel_in_use',
  help: "1 for the build of the signal-processing kernels in use, with the processor's instructions that it uses",
  labelNames: ['kernel', 'instructions'] as const,
  registers,
});
