// Streaming speech services in a process of their own: a recogniser and a voice over TLS websockets, a language model by
// server-sent events, primary and fallback. They take part in conversations about marked words and note when what
// passed. Messages in, one answer each; see service-client.ts.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';
import { systemClock } from '../../../src/std/clock.ts';
import { type BreakablePort, openBreakablePort } from '../../fakes/breakable-port.ts';
import type { VoiceFaults } from '../../fakes/call/scripted-voice.ts';
import { startScriptedServer } from '../../fakes/scripted-server.ts';
import { startCartesia } from '../../fakes/services/cartesia-server.ts';
import { startDeepgramServer } from '../../fakes/services/deepgram-server.ts';
import { MarkedWords } from './marked-words.ts';
import { Observations, type ServiceTimes } from './observations.ts';
import { answerOf } from './scripted-model.ts';
import { SERVICE_KEY } from './service-key.ts';

export type Job = 'stt' | 'tts' | 'llm';
export type Breakage = 'gone' | 'silent';

const order = z.discriminatedUnion('order', [
  z.object({
    order: z.literal('start'),
    tls: z.object({ cert: z.string(), key: z.string() }),
    /** Whether the primary services can be broken. */
    isBreakable: z.boolean(),
  }),
  z.object({ order: z.literal('measure') }),
  z.object({ order: z.literal('report') }),
  z.object({
    order: z.literal('break'),
    jobs: z.array(z.enum(['stt', 'tts', 'llm'])),
    how: z.enum(['gone', 'silent']),
  }),
  z.object({ order: z.literal('mend') }),
]);
export type ServiceOrder = z.infer<typeof order>;

/** Ports by job: the primary, then the fallback. */
export type ServicePorts = Record<Job, readonly [number, number]>;

export interface ServiceAnswer {
  /** CPU time that this process has used so far. */
  cpuMs: number;
  ports?: ServicePorts;
  times?: ServiceTimes;
  /** How late this process was itself since `measure`. */
  delayP99Ms?: number;
  error?: string;
}

/** Faster than real time, as services are. */
const VOICE: VoiceFaults = { speed: 5, words: 'with' };

/** It is part of what is measured. */
const DELAY_RESOLUTION_MS = 10;

const observations = new Observations();
const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
const breakable = new Map<Job, BreakablePort>();

process.on('message', (message: unknown) => {
  carryOut(order.parse(message))
    .then((more) => answer(more))
    .catch((error: unknown) => answer({ error: String(error) }));
});
process.on('disconnect', () => process.exit(0));

async function carryOut(task: ServiceOrder): Promise<Partial<ServiceAnswer>> {
  switch (task.order) {
    case 'start':
      return { ports: await start(task.tls, task.isBreakable) };
    case 'measure':
      observations.reset();
      delay.enable();
      delay.reset();
      return {};
    case 'report':
      return { times: observations.report(), delayP99Ms: delayP99Ms() };
    case 'break':
      for (const job of task.jobs) await breakable.get(job)?.break(task.how);
      return {};
    case 'mend':
      for (const port of breakable.values()) await port.mend();
      return {};
  }
}

function answer(more: Partial<ServiceAnswer>): void {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1_000, ...more });
}

function delayP99Ms(): number {
  return Math.max(0, delay.percentile(99) / 1e6 - DELAY_RESOLUTION_MS);
}

type Tls = { cert: string; key: string };

async function start(tls: Tls, isBreakable: boolean): Promise<ServicePorts> {
  const opened = { stt: startRecogniser, tts: startVoice, llm: startModel };
  const ports: Partial<Record<Job, [number, number]>> = {};
  for (const [job, open] of Object.entries(opened) as [Job, (tls: Tls) => Promise<number>][]) {
    const primary = await open(tls);
    ports[job] = [isBreakable ? await breakableTo(job, primary) : primary, await open(tls)];
  }
  return ports as ServicePorts;
}

async function breakableTo(job: Job, port: number): Promise<number> {
  const opened = await openBreakablePort(port);
  breakable.set(job, opened);
  return opened.port;
}

async function startRecogniser(tls: Tls): Promise<number> {
  const { url } = await startDeepgramServer({
    clock: systemClock,
    key: SERVICE_KEY,
    tls,
    isRecording: false,
    finder: () => new MarkedWords((mark) => observations.frame(mark)),
    onFinal: (finder) => {
      if (finder instanceof MarkedWords) observations.final(finder.call);
    },
  });
  return Number(new URL(url).port);
}

async function startVoice(tls: Tls): Promise<number> {
  const { url } = await startCartesia({
    clock: systemClock,
    key: SERVICE_KEY,
    faults: VOICE,
    tls,
    isRecording: false,
    onText: (text) => observations.spokenText(text),
    onAudio: (audio, text) => observations.audio(audio, text),
  });
  return Number(new URL(url).port);
}

async function startModel(tls: Tls): Promise<number> {
  const server = await startScriptedServer({
    tls,
    isRecording: false,
    unscripted: { status: 500, steps: [] },
  });
  server.otherwise(({ body }) => answerOf(body, observations));
  return Number(new URL(server.origin).port);
}
