// What a demo call must have come to: the run as the API returns it, its files, and the audio at the caller.

import { isDeepStrictEqual } from 'node:util';
import { msToSamples } from '../../src/audio/pcm.ts';
import { readWav } from '../../src/audio/wav.ts';
import type { RunDetail } from './api-client.ts';
import { type CallerFacts, rms } from './caller.ts';
import { type Scenario, YIELD_MS_MAX } from './scenario.ts';

/** A recording may lack this much of the call: it begins with the media and ends with the last frame. */
const RECORDING_S_LACKING_MAX = 2;
/** Speech of either side in a recording: seconds that are loud. */
const SPEECH_S_MIN = 0.5;
const LOUD_RMS = 250;

export interface CallResult {
  scenario: Scenario;
  run: RunDetail;
  recording: Buffer;
  transcript: string;
  /** What the caller noticed. */
  caller: CallerFacts;
  /** Who ended the call, as the provider saw it. */
  endedBy: 'caller' | 'gateway';
  /** False: the caller could only press keys, and has no voice in the recording. */
  recogniser: boolean;
  /** A language model led the conversation: texts vary, values must not. */
  model: boolean;
}

/** What is wrong with the call, each as a sentence; empty if all is well. `slowness`: factor by which the machine was
 *  slower than a free one. */
export function faultsOf(result: CallResult, slowness = 1): string[] {
  return [
    ...runFaults(result),
    ...interruptionFaults(result, YIELD_MS_MAX * slowness),
    ...recordingFaults(result),
    ...transcriptFaults(result),
  ];
}

function runFaults({ run, scenario, endedBy, model }: CallResult): string[] {
  const { endNode, gatheredByModel } = scenario.expected;
  const gathered = { ...scenario.expected.gathered, ...(model ? gatheredByModel : {}) };
  const context = run.gathered_context ?? {};
  const visited = context['nodes_visited'];
  const last: unknown = Array.isArray(visited) ? visited.at(-1) : undefined;
  const values = normalized(context['extracted_variables'], model);
  const faults: string[] = [];
  if (!run.is_completed) faults.push('the run is not completed');
  if (run.call_type !== scenario.direction) faults.push(`the run is ${run.call_type}`);
  if (last !== endNode) faults.push(`the last node is ${String(last)}, not ${endNode}`);
  if (!isDeepStrictEqual(values, normalized(gathered, model))) {
    const shown = JSON.stringify(context['extracted_variables']);
    faults.push(`gathered ${shown}, not ${JSON.stringify(gathered)}`);
  }
  if (endedBy !== 'gateway') faults.push('the agent did not end the call');
  return faults;
}

/** A model may write "Thursday" for "thursday". */
function normalized(values: unknown, model: boolean): unknown {
  if (!model || typeof values !== 'object' || values === null) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.trim().toLowerCase() : value,
    ]),
  );
}

function interruptionFaults({ run, scenario, caller }: CallResult, yieldMsMax: number): string[] {
  const faults: string[] = [];
  const { interruptions } = caller;
  if (interruptions.length !== scenario.expected.interruptions) {
    faults.push(`the caller interrupted ${interruptions.length} times`);
  }
  for (const { overSpeech, silentAfterMs } of interruptions) {
    if (!overSpeech) faults.push('the agent was silent when the caller interrupted');
    else if (silentAfterMs === null) faults.push('the agent spoke on when interrupted');
    else if (silentAfterMs > yieldMsMax) faults.push(`the agent yielded in ${silentAfterMs} ms`);
  }
  const items = run.logs?.realtime_feedback_events ?? [];
  const cut = items.filter(
    ({ type, payload }) => type === 'rtf-bot-text' && payload['interrupted'] === true,
  );
  if (cut.length < interruptions.length) faults.push('the run knows of no interrupted utterance');
  return faults;
}

function recordingFaults({ recording, run, recogniser }: CallResult): string[] {
  const { rateHz, channels, samples } = readWav(recording);
  if (rateHz !== 8_000 || channels !== 2) return [`the recording is ${rateHz} Hz, ${channels} ch`];
  const seconds = samples.length / channels / rateHz;
  const faults: string[] = [];
  if (seconds < (run.duration ?? 0) - RECORDING_S_LACKING_MAX) {
    faults.push(`the recording has ${seconds.toFixed(1)} s of ${String(run.duration)} s`);
  }
  for (const [channel, who] of ['caller', 'agent'].entries()) {
    if (who === 'caller' && !recogniser) continue;
    const loud = loudSeconds(channelOf(samples, channel));
    if (loud < SPEECH_S_MIN) faults.push(`the recording has ${loud.toFixed(1)} s of the ${who}`);
  }
  return faults;
}

function channelOf(interleaved: Int16Array, channel: number): Int16Array {
  return Int16Array.from(
    { length: Math.floor(interleaved.length / 2) },
    (_, index) => interleaved[2 * index + channel] ?? 0,
  );
}

/** How much of the audio is speech-loud. */
export function loudSeconds(samples: Int16Array): number {
  const window = msToSamples(20);
  let loud = 0;
  for (let at = 0; at < samples.length; at += window) {
    if (rms(samples.subarray(at, at + window)) > LOUD_RMS) loud += 1;
  }
  return loud * 0.02;
}

function transcriptFaults({ transcript, scenario, model }: CallResult): string[] {
  const spoken = scenario.sayings.filter(({ alwaysKeys }) => !alwaysKeys);
  if (!/ assistant: \S/.test(transcript)) return ['the transcript lacks the agent'];
  const callers = transcript.split('\n').filter((line) => line.includes(' user: '));
  if (callers.length < (model ? 1 : spoken.length)) return ['the transcript lacks the caller'];
  return [];
}
