// What a session takes down of an interruption, of usage and faults, and of words that came late.

import { describe, expect, it } from 'vitest';
import { SessionEvents } from '../../../src/call/session/session-events.ts';
import { bargeInSeconds, interruptions } from '../../../src/metrics/metrics.ts';
import type { CallEventBody } from '../../../src/model/call-event.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';

async function counted(): Promise<number> {
  const figures = [await interruptions.get(), await bargeInSeconds.get()];
  return figures.flatMap(({ values }) => values).reduce((sum, { value }) => sum + value, 0);
}

describe('an interruption', () => {
  // The pipeline measures it where it happens; counted here again, every figure was twice the truth.
  it('is written down, and counted by the pipeline alone', async () => {
    const events: CallEventBody[] = [];
    const record = new SessionEvents(
      {
        events: [],
        isWatched: () => false,
        emitLive: () => undefined,
        append: (body) => events.push(body),
      },
      () => 0,
    );
    const before = await counted();
    record.interruption({ cause: 'speech', decisionMs: 400.4, silenceMs: 120.6 });
    expect(events).toEqual([
      { type: 'interruption', cause: 'speech', decisionMs: 400, silenceMs: 121 },
    ]);
    expect(await counted()).toBe(before);
  });
});

it.each([
  [
    { job: 'stt', service: 'acme', model: 'one', unit: 'seconds', amount: 61.5, source: 'vendor' },
    { type: 'recognition.usage', service: 'acme', model: 'one', seconds: 61.5 },
  ],
  [
    { job: 'tts', service: 'acme', model: 'one', unit: 'characters', amount: 9, source: 'counted' },
    { type: 'speech.usage', service: 'acme', model: 'one', characters: 9 },
  ],
] as const)('what a service counts is an event: %o', (usage, event) => {
  const events: CallEventBody[] = [];
  const record = new SessionEvents(
    {
      events: [],
      isWatched: () => false,
      emitLive: () => undefined,
      append: (body) => events.push(body),
    },
    () => 0,
  );
  record.usage(usage);
  expect(events).toEqual([event]);
  expect([record.isCounted('stt'), record.isCounted('tts')]).toEqual([
    usage.job === 'stt',
    usage.job === 'tts',
  ]);
});

it('a fault of a service has the words of the service, for the owner of the call', () => {
  const events: CallEventBody[] = [];
  const record = new SessionEvents(
    {
      events: [],
      isWatched: () => false,
      emitLive: () => undefined,
      append: (body) => events.push(body),
    },
    () => 0,
  );
  const detail = 'the key sk-1234 has no credits';
  record.fault(new ServiceFault('tts', 'acme', 'quota', { detail, redact: ['sk-1234'] }), false);
  expect(events).toEqual([
    {
      type: 'fault',
      code: 'TTS_FAILED',
      message: 'Speech synthesis failed: acme, quota (the key [redacted] has no credits)',
      fatal: false,
      origin: { job: 'tts', name: 'acme', kind: 'quota' },
      service: {
        job: 'tts',
        name: 'acme',
        kind: 'quota',
        detail: 'the key [redacted] has no credits',
      },
    },
  ]);
});

// The next thing that the agent said, after half a minute of silence perhaps, counted as its answer.
it('words that nothing answers have no latency of an answer', () => {
  const events: CallEventBody[] = [];
  const record = new SessionEvents(
    {
      events: [],
      isWatched: () => false,
      emitLive: () => undefined,
      append: (body) => events.push(body),
    },
    () => 0,
  );
  const turn = {
    text: 'cancel',
    confidence: null,
    source: 'speech',
    startMs: 0,
    endMs: 600,
  } as const;
  const times = { lastSpeechAt: 600, decidedAt: 1_200, finalAt: 2_000 };
  const answer = { firstTextAt: 2_500, firstAudioAt: 2_600, firstFrameAt: 2_620 };
  record.callerTurn({ ...turn, ...times });
  record.note(record.turnEntry({ ...turn, ...times }));
  record.note(record.turnEntry({ ...turn, ...times, text: 'today', finalAt: 2_400 }));
  record.answered({ ...answer, utteranceId: 1 });
  record.note(record.turnEntry({ ...turn, ...times, text: 'please', finalAt: 3_000 }));
  record.answered({ ...answer, firstFrameAt: 30_000, utteranceId: 2 });
  expect(events.map(({ type }) => type)).toEqual([
    ...['user.turn', 'user.turn', 'turn.latency', 'user.turn'],
  ]);
  expect(events[2]).toMatchObject({ parts: { recognitionMs: 800, totalMs: 2_020 } });
});
