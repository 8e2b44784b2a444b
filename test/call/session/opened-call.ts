// The first seconds of a call: what the caller's line brings from the answer on, in real voices through the real voice
// activity detection, and what the agent says to it. The words come from a script, as late as from a service.

import { FRAME_SAMPLES } from '../../../src/audio/pcm.ts';
import type { CallEventBody } from '../../../src/model/call-event.ts';
import { comfortNoise, taken } from '../../audio/sounds.ts';
import { at, render } from '../../pipeline/real-call.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import type { CallHarness } from '../call-harness.ts';
import { type EmbeddedSpeech, firstSoundMs, SpokenCalls } from '../embedded-speech.ts';
import { ScriptedModel } from '../scripted-model.ts';
import type { Stream } from '../stream.ts';

export const GREETING =
  'Hello, this is Anna of the dental clinic. I am calling about your appointment on Tuesday. Is that Mister Miller?';
const REPLY = 'Thank you. I will make a note of that.';

const PER_MS = 8;
/** Level of a caller's voice. */
const VOICE_DB = -22;
/** Interim words behind the voice. */
const INTERIM_MS = 150;
const FINAL_MS = 100;
/** Level of a line without noise. */
const LINE_DB = -60;
/** Level of each voice behind the caller. */
const BEHIND_DB = -40;

export interface Sound {
  pcm: Int16Array;
  atMs: number;
  /** What the recogniser makes of it; undefined: no words. */
  text?: string;
  /** Not the caller: it fills no silence. */
  isBehind?: boolean;
}

export interface OpeningOptions {
  sounds?: readonly Sound[];
  direction?: 'inbound' | 'outbound';
  /** Seconds of `delayed_start`; undefined: the agent speaks at once. */
  delayS?: number;
  interruptible?: boolean;
  /** Level of the line's noise. */
  noiseDb?: number;
  /** Whether the recogniser has interim words. Default: true. */
  hasInterim?: boolean;
  /** The agent has no greeting of its own: the model opens. */
  byModel?: boolean;
  ms?: number;
}

interface Span {
  fromMs: number;
  untilMs: number;
}

export class OpenedCall {
  readonly #stream: Stream;
  readonly #t0: number;
  readonly #sounds: readonly Sound[];
  readonly model: ScriptedModel;
  readonly events: readonly CallEventBody[];

  constructor(parts: {
    stream: Stream;
    t0: number;
    sounds: readonly Sound[];
    model: ScriptedModel;
    events: readonly CallEventBody[];
  }) {
    this.#stream = parts.stream;
    this.#t0 = parts.t0;
    this.#sounds = parts.sounds;
    this.model = parts.model;
    this.events = parts.events;
  }

  /** From the start of the media to the first sound of the agent at or after `fromMs`. */
  firstSoundMs(fromMs = 0): number {
    return firstSoundMs(this.#stream, this.#t0 + fromMs) - this.#t0;
  }

  /** What the caller has heard, in order. */
  get said(): { text: string; interrupted: boolean }[] {
    return this.events.flatMap((body) =>
      body.type === 'agent.said' ? [{ text: body.text, interrupted: body.interrupted }] : [],
    );
  }

  get turns(): string[] {
    return this.events.flatMap((body) => (body.type === 'user.turn' ? [body.text] : []));
  }

  /** How often the caller was greeted. */
  get greetings(): number {
    return this.said.filter(({ text }) => text.includes('this is Anna')).length;
  }

  /** The longest time without the agent and the caller, until the agent has said its last word, or its first words. */
  deadAirMs(until: 'first words' | 'last words' = 'last words'): number {
    const first = this.events.find(({ type }) => type === 'agent.said');
    const endMs = first?.type === 'agent.said' ? first.endMs : Number.POSITIVE_INFINITY;
    return this.#longestQuietMs(until === 'first words' ? endMs : Number.POSITIVE_INFINITY);
  }

  #longestQuietMs(endMs: number): number {
    const callers = this.#sounds
      .filter(({ isBehind }) => isBehind !== true)
      .map(({ atMs, pcm }) => ({ fromMs: atMs, untilMs: endOf({ atMs, pcm }) }));
    const agents = this.#agents().filter(({ fromMs }) => fromMs < endMs);
    const lastMs = agents.at(-1)?.untilMs ?? Number.POSITIVE_INFINITY;
    const spans = [...callers, ...agents].sort((one, other) => one.fromMs - other.fromMs);
    let longest = 0;
    let quietMs = 0;
    for (const { fromMs, untilMs } of spans) {
      if (fromMs > lastMs) break;
      longest = Math.max(longest, fromMs - quietMs);
      quietMs = Math.max(quietMs, untilMs);
    }
    return agents.length === 0 ? Number.POSITIVE_INFINITY : longest;
  }

  #agents(): Span[] {
    const frames = this.#stream.farEnd.frames.filter(({ pcm }) =>
      pcm.some((each) => Math.abs(each) > 40),
    );
    return frames.map(({ atMs, untilMs }) => ({
      fromMs: atMs - this.#t0,
      untilMs: untilMs - this.#t0,
    }));
  }
}

/** End of a sound, in milliseconds from the start of the media. */
export function endOf({ atMs, pcm }: Pick<Sound, 'atMs' | 'pcm'>): number {
  return atMs + pcm.length / PER_MS;
}

/** A voice of flite, cut to what sounds. `pitch`: above 1 for a child. */
export async function spoken(
  text: string,
  how: { voice?: string; pitch?: number } = {},
): Promise<Int16Array> {
  const { voice = 'rms', pitch = 1 } = how;
  const { pcm } = (await render([{ voice, text }])).get(text) ?? { pcm: new Int16Array() };
  const isSound = (each: number): boolean => Math.abs(each) > 300;
  const whole = pcm.slice(pcm.findIndex(isSound), pcm.findLastIndex(isSound) + 1);
  const higher = new Int16Array(Math.floor(whole.length / pitch));
  for (let nth = 0; nth < higher.length; nth++) higher[nth] = whole[Math.floor(nth * pitch)] ?? 0;
  return at(higher, VOICE_DB);
}

/** Opens a call and lets it go on for `ms`. */
export async function opened(
  harness: CallHarness,
  speech: EmbeddedSpeech,
  options: OpeningOptions,
): Promise<OpenedCall> {
  const { sounds = [], direction = 'outbound', ms = 14_000 } = options;
  const calls = new SpokenCalls(harness, speech);
  const model = new ScriptedModel(harness.clock);
  model.answers =
    options.byModel === true ? [{ say: [GREETING] }, { say: [REPLY] }] : [{ say: [REPLY] }];
  harness.stt.capabilities = { interimWords: options.hasInterim ?? true, finalMsP99: 250 };
  harness.stt.finalMs = FINAL_MS;
  Object.assign(harness.speech, { stt: harness.stt, llm: model });
  await harness.prepare(agentOf(options));
  const { stream, runId } = await (direction === 'inbound' ? inbound(harness) : outbound(harness));
  stream.sound = lineOf(sounds, { ms, noiseDb: options.noiseDb ?? LINE_DB });
  const t0 = harness.clock.monotonicMs();
  stream.start();
  const worded = sounds.filter(({ text }) => text !== undefined);
  for (let passed = 0; passed < ms; passed += 20) {
    for (const sound of worded) {
      const due = options.hasInterim === false ? endOf(sound) : interimMs(sound);
      if (due >= passed && due < passed + 20)
        harness.stt.understand(sound.text ?? '', { silently: options.hasInterim === false });
    }
    await calls.pass(20);
  }
  const events = (await harness.events({ id: runId })).map(({ body }) => body);
  return new OpenedCall({ stream, t0, sounds, model, events });
}

/** Interim words come while the voice goes on, for long ones, and shortly behind it for short ones. */
function interimMs({ atMs, pcm }: Sound): number {
  return atMs + Math.min(pcm.length / PER_MS, 350) + INTERIM_MS;
}

function agentOf({ delayS, interruptible = true, byModel }: OpeningOptions) {
  const delay = delayS === undefined ? {} : { delayed_start: true, delayed_start_duration: delayS };
  const words = byModel === true ? {} : { greeting: GREETING };
  return definition(
    [start('talk', { ...words, allow_interrupt: interruptible, ...delay }), end('bye')],
    [edge('talk', 'bye', { label: 'Finish' })],
  );
}

async function outbound(harness: CallHarness): Promise<{ stream: Stream; runId: string }> {
  const { runId } = await harness.start();
  return { stream: await harness.connect(await harness.pickUp(runId)), runId };
}

async function inbound(harness: CallHarness): Promise<{ stream: Stream; runId: string }> {
  const stream = await harness.connect(await harness.ring());
  const [run] = await harness.runs();
  return { stream, runId: run?.id ?? '' };
}

/** All sounds on one line, with its noise. */
function lineOf(sounds: readonly Sound[], how: { ms: number; noiseDb: number }): Int16Array {
  const frames = Math.ceil((how.ms * PER_MS) / FRAME_SAMPLES);
  const line = taken(comfortNoise({ seed: 5, levelDbfs: how.noiseDb }), frames);
  for (const { pcm, atMs } of sounds) {
    const from = Math.round(atMs * PER_MS);
    for (let nth = 0; nth < pcm.length && from + nth < line.length; nth++) {
      const sum = (line[from + nth] ?? 0) + (pcm[nth] ?? 0);
      line[from + nth] = Math.max(-32_000, Math.min(32_000, sum));
    }
  }
  return line;
}

/** Four people who talk behind the caller, without a pause in common. */
export async function babble(ms: number): Promise<Int16Array> {
  const talk =
    'and then we went to the market and bought some bread and a few apples for the children';
  const line = new Int16Array(ms * PER_MS);
  for (const [nth, voice] of ['rms', 'awb', 'kal16', 'slt'].entries()) {
    const pcm = at(await spoken(talk, { voice }), BEHIND_DB);
    const shift = nth * 9_000;
    for (let i = 0; i < line.length; i++) {
      line[i] = (line[i] ?? 0) + (pcm[(i + shift) % pcm.length] ?? 0);
    }
  }
  return line;
}

/** Hold music: a chord of three notes each half second, which fade. */
export function music(ms: number): Int16Array {
  const roots = [262, 330, 349, 392, 294, 440];
  const line = new Int16Array(ms * PER_MS);
  for (let i = 0; i < line.length; i++) {
    const atS = i / 8_000;
    const root = roots[Math.floor(atS * 2) % roots.length] ?? 262;
    const fade = Math.exp(-3 * (atS % 0.5));
    const sum = [1, 1.25, 1.5].reduce(
      (all, each) => all + Math.sin(2 * Math.PI * root * each * atS),
      0,
    );
    line[i] = Math.round(1_000 * fade * sum);
  }
  return line;
}
