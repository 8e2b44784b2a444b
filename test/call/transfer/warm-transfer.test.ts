// A colleague is told who calls and why, and takes the call or does not: by their keys, by staying or by
// hanging up. The far end speaks Twilio's protocol, as any would do.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  consultationMsMax,
  consultTransferTarget,
} from '../../../src/call/transfer/warm-transfer.ts';
import { MediaClock } from '../../../src/pipeline/media-clock.ts';
import { createTwilioMedia } from '../../../src/telephony/twilio/provider.ts';
import type { TransferAnnouncement } from '../../../src/workflow/tools/tool-type.ts';
import { farSession } from '../../fakes/call/far-session.ts';
import { withSuspensions } from '../../fakes/call/suspensions.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { FakeTts, loudnessVad } from '../../fakes/speech-services.ts';
import { Stream } from '../stream.ts';

const TEXT = 'Ana calls about her bill.';
const TEXT_MS = TEXT.length * 60;
const BY_KEY: TransferAnnouncement = {
  isRequired: true,
  text: TEXT,
  accept: 'key',
  refuseKey: '*',
  decisionS: 10,
  callerHears: 'music',
};
const BY_STAYING: TransferAnnouncement = { ...BY_KEY, accept: 'stay' };

let clock: FakeClock;
let mediaClock: MediaClock;
let tts: FakeTts;
let stream: Stream;
let gone: AbortController;
let outcome: 'taken' | { code?: string; message: string } | undefined;

beforeEach(() => {
  clock = new FakeClock();
  mediaClock = new MediaClock(clock);
  tts = new FakeTts(clock);
  stream = new Stream({ clock, callId: 't1', oneWayMs: 0 });
  gone = new AbortController();
  outcome = undefined;
});
afterEach(async () => {
  gone.abort(new Error('the test is over'));
  await settle();
  mediaClock.close();
  expect(clock.timers).toBe(0);
});

async function begin(
  announcement: TransferAnnouncement,
  how: Omit<Parameters<typeof farSession>[1], 'clock'> = {},
): Promise<void> {
  const { log } = quietLog();
  const deps = { clock, mediaClock, tts, vad: loudnessVad(), voice: undefined, log };
  const media = farSession(stream, { clock, ...how });
  const met = { announcement, media };
  consultTransferTarget(deps, met, gone.signal).then(
    () => {
      outcome = 'taken';
    },
    (error) => {
      outcome = error;
    },
  );
  await settle();
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 20) {
    clock.advance(20);
    stream.frame();
    await settle();
  }
}

describe('a destination that accepts calls by a key', () => {
  it('gets the announcement again and again while they have not decided', async () => {
    await begin(BY_KEY);
    await pass(TEXT_MS + 2_900);
    expect(tts.asked).toEqual([TEXT]);
    await pass(200 + TEXT_MS);
    expect(tts.asked).toEqual([TEXT, TEXT]);
    expect(outcome).toBeUndefined();
    expect(stream.farEnd.aheadMsMax).toBeLessThanOrEqual(300);
  });

  it.each(['1', '5', '0', '#'])(
    'takes it by %s, also before they have heard it all',
    async (key) => {
      await begin(BY_KEY);
      await pass(400);
      stream.key(key);
      await settle();
      expect(outcome).toBe('taken');
      expect(stream.open).toBe(true); // Who opened it closes it.
      const { frames } = stream;
      await pass(1_000);
      expect(stream.frames).toBe(frames);
    },
  );

  it('refuses it by the key for that', async () => {
    await begin(BY_KEY);
    await pass(400);
    stream.key('*');
    await settle();
    expect(outcome).toMatchObject({ code: 'TRANSFER_DECLINED' });
    stream.key('1');
    await settle();
    expect(outcome).toMatchObject({ code: 'TRANSFER_DECLINED' });
  });

  it('has not taken it if they press none in time, which counts from the end of the words', async () => {
    await begin(BY_KEY);
    await pass(TEXT_MS + 9_900);
    expect(outcome).toBeUndefined();
    await pass(300);
    expect(outcome).toMatchObject({ code: 'TRANSFER_DECLINED' });
  });

  it('that is a queue is spoken to until a person takes the call, for longer than a person may think', async () => {
    await begin({ ...BY_KEY, queueS: 120 });
    await pass(100_000);
    expect(outcome).toBeUndefined();
    expect(tts.asked.length).toBeGreaterThan(10);
    stream.key('1');
    await settle();
    expect(outcome).toBe('taken');
  });

  it('that is a queue in which nobody takes the call gives it back after its own time', async () => {
    await begin({ ...BY_KEY, queueS: 60 });
    await pass(59_900);
    expect(outcome).toBeUndefined();
    await pass(200);
    expect(outcome).toMatchObject({ code: 'TRANSFER_QUEUE' });
  });

  it('says something, and is spoken to all the same', async () => {
    await begin(BY_KEY);
    stream.line = 'voice';
    await pass(TEXT_MS + 500);
    expect(stream.farEnd.frames.length * 20).toBeGreaterThanOrEqual(TEXT_MS);
    expect(outcome).toBeUndefined();
  });
});

describe('a destination that accepts calls by staying', () => {
  it('has it when the words were said', async () => {
    await begin(BY_STAYING);
    await pass(TEXT_MS - 100);
    expect(outcome).toBeUndefined();
    await pass(300);
    expect(outcome).toBe('taken');
    expect(tts.asked).toEqual([TEXT]);
  });

  it.each([
    ['1', 'taken'],
    ['*', { code: 'TRANSFER_DECLINED' }],
  ] as const)('may hasten it by %s', async (key, expected) => {
    await begin(BY_STAYING);
    await pass(200);
    stream.key(key);
    await settle();
    if (expected === 'taken') expect(outcome).toBe(expected);
    else expect(outcome).toMatchObject(expected);
  });

  it('has it too if the words cannot be spoken', async () => {
    tts.fails = { text: TEXT, afterMs: 0 };
    await begin(BY_STAYING);
    await pass(2_000);
    expect(outcome).toBe('taken');
  });
});

describe('the consultation with a destination', () => {
  it('ends when they hang up', async () => {
    await begin(BY_KEY);
    await pass(200);
    stream.hangUp();
    await settle();
    expect(outcome).toMatchObject({ code: 'TRANSFER_DECLINED' });
  });

  it.each([0, 400])('ends at once when the caller is gone (%d ms)', async (ms) => {
    await begin(BY_KEY);
    await pass(ms);
    const why = new Error('the caller is gone');
    gone.abort(why);
    await settle();
    expect(outcome).toBe(why);
  });

  it('does not begin when the caller is gone before', async () => {
    gone.abort(new Error('the caller is gone'));
    await begin(BY_KEY);
    await pass(200);
    expect(outcome).toMatchObject({ message: 'the caller is gone' });
    expect(stream.frames).toBe(0);
  });

  it.each([
    [['interrupted', 'held', 'restored', 'unheld']],
    [['held', 'interrupted', 'unheld', 'restored']],
  ] as const)('waits for the end of both a hold and an outage: %j', async (events) => {
    await begin(BY_KEY, { protocol: withSuspensions() });
    await pass(400);
    const [first, second, third, last] = events;
    stream.text(first);
    stream.text(second);
    await pass(200);
    const { frames } = stream;
    expect(frames).toBeGreaterThan(0);
    stream.text(third);
    await pass(1_000);
    expect(stream.frames).toBe(frames);
    stream.text(last);
    await pass(400);
    expect(stream.frames).toBeGreaterThan(frames);
  });

  it('ends if their audio does not begin', async () => {
    stream.line = 'nothing';
    await begin(BY_KEY, { onAttach: () => undefined });
    await pass(10_100);
    expect(outcome).toMatchObject({ code: 'MEDIA_SILENT' });
  });

  it('ends if their audio is of a kind that is not known', async () => {
    const protocol = createTwilioMedia();
    const decodeText = protocol.decodeText.bind(protocol);
    protocol.decodeText = (message, listener) =>
      decodeText(message, {
        onAudio: listener.onAudio,
        onEvent: (event) => {
          if (event.type !== 'started') listener.onEvent(event);
          else listener.onEvent({ ...event, start: { ...event.start, codecIn: 'GSM' } });
        },
      });
    await begin(BY_KEY, { protocol });
    expect(outcome).toMatchObject({ code: 'CODEC_UNKNOWN' });
  });

  it('ends if the socket takes nothing', async () => {
    await begin(BY_KEY);
    await pass(200);
    stream.broken = true;
    await pass(1_000);
    expect(outcome).toMatchObject({ message: 'the socket is broken' });
  });

  it('ends in any case, however slowly the words come', async () => {
    tts.firstAudioMs = 600_000;
    await begin(BY_KEY);
    await pass(consultationMsMax(BY_KEY) + 100);
    expect(outcome).toMatchObject({ code: 'TRANSFER_DECLINED' });
  });
});
