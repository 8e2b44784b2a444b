// A call under way without a model: what callers, sockets and services do wrong, and what becomes of it.
// Source: contract §6.3, §7.4, §8.4, §8.6; speech §3.

import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { CallAudio } from '../../../src/pipeline/call-audio.ts';
import {
  CALL,
  type CallHarness,
  chat,
  drinks,
  GREETING,
  mediaUrlIn,
  withCallHarness,
} from '../call-harness.ts';
import type { Stream } from '../stream.ts';

const held = withCallHarness();

const faults = async (harness: CallHarness, run: { id: string }) =>
  (await harness.bodies(run, 'fault')).map(({ code, fatal }) => [code, fatal]);

/** Runs the call to its end by a key. */
async function finish(harness: CallHarness, stream: Stream, run: { id: string }) {
  stream.key('1');
  await harness.heardOut(stream);
  return harness.ended(run);
}

describe('a media stream', () => {
  it('of another call than was answered ends the call', async () => {
    const harness = await held.harness.prepare();
    const stream = await harness.connect(await harness.ring());
    stream.start('CA-another');
    const [run] = await harness.runs();
    const done = await harness.ended(run as { id: string });
    expect(done.disposition).toBe('system_connect_error');
    expect(await faults(harness, done)).toEqual([['MEDIA_UNAUTHORIZED', true]]);
    expect(stream.closed?.code).toBe(1000);
    expect(harness.hangUps[0]?.path).toContain(CALL);
    expect(stream.frames).toBe(0);
  });

  it('that does not start in time ends the call', async () => {
    const harness = await held.harness.prepare();
    const stream = await harness.connect(await harness.ring());
    stream.line = 'nothing';
    await harness.pass(9_900);
    expect(stream.open).toBe(true);
    await harness.pass(200);
    const [run] = await harness.runs();
    const done = await harness.ended(run as { id: string });
    expect(done.disposition).toBe('system_connect_error');
    expect(await faults(harness, done)).toEqual([['MEDIA_SILENT', true]]);
    expect(harness.hangUps).toHaveLength(1);
  });

  it('in an encoding that is not ours ends the call', async () => {
    const harness = await held.harness.prepare();
    const stream = await harness.connect(await harness.ring());
    const mediaFormat = { encoding: 'audio/x-alaw', sampleRate: 8000, channels: 1 };
    stream.tell({ event: 'start', start: { callSid: CALL, mediaFormat } });
    const [run] = await harness.runs();
    const done = await harness.ended(run as { id: string });
    expect(done.disposition).toBe('pipeline_error');
    expect(await faults(harness, done)).toEqual([['MEDIA_CODEC', true]]);
    expect(stream.closed?.code).toBe(4400);
  });

  it('may break the protocol twenty times, not more', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    for (let n = 0; n < 20; n++) stream.text('{"event":"media"}');
    await harness.heardOut(stream);
    expect(stream.open).toBe(true);
    stream.text('{"event":"media"}');
    const done = await harness.ended(run);
    expect(done.disposition).toBe('pipeline_error');
    expect(stream.closed?.code).toBe(4400);
    expect(await faults(harness, run)).toEqual([['MEDIA_MALFORMED', true]]);
    expect(harness.hangUps).toHaveLength(1);
  });

  it('that starts twice is the same call', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    stream.start();
    await harness.heardOut(stream);
    expect((await finish(harness, stream, run)).disposition).toBe('user_qualified');
    expect(await harness.bodies(run, 'media.started')).toHaveLength(1);
  });

  it('that breaks ends the call as a hang-up of that moment unless its provider asks for it within 3 s', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const talkedMs = harness.clock.now() - (run.startedAt?.getTime() ?? 0);
    stream.lose(1006);
    await harness.pass(2_900);
    expect((await harness.run(run.id)).state).toBe('running');
    await harness.pass(200);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_hangup');
    expect(Math.abs((done.durationS ?? 0) * 1_000 - talkedMs)).toBeLessThan(200);
    // The provider has not asked for it: the call is over there.
    expect(harness.hangUps).toEqual([]);
  });
});

describe('a caller', () => {
  it('who hangs up mid-sentence leaves only the words that were heard', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.pass(360);
    stream.hangUp();
    const done = await harness.ended(run);
    const [line] = await harness.transcript(done);
    const heard = line?.replace('assistant: ', '') ?? '';
    expect(heard).not.toBe('');
    expect(GREETING.startsWith(heard)).toBe(true);
    expect(heard.length).toBeLessThan(GREETING.length);
    expect(done.durationS).toBeLessThan(0.5);
    expect(done.usageInfo?.['call_duration_seconds']).toBe(0);
  });

  it('who interrupts is heard, and the agent is silent at once', async () => {
    const long = structuredClone(drinks);
    const text = `${GREETING} We have a great many of both, from all the countries of the earth.`;
    if (long.nodes[0] !== undefined) {
      long.nodes[0].data = { ...long.nodes[0].data, say: text, allow_interrupt: true };
    }
    const harness = await held.harness.prepare(long);
    const { stream, run } = await harness.inboundCall();
    await harness.pass(1_000);
    await harness.says(stream, 'coffee');
    expect(stream.farEnd.clears).toBeGreaterThan(0);
    await harness.passUntil(() => harness.tts.asked.includes('Goodbye.'));
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.gatheredContext['drink']).toBe('coffee');
    expect(await harness.bodies(run, 'interruption')).toMatchObject([{ cause: 'speech' }]);
    const [first, ...rest] = await harness.transcript(done);
    expect(text.startsWith(first?.replace('assistant: ', '') ?? 'x')).toBe(true);
    expect(first?.length).toBeLessThan(text.length);
    expect(rest).toEqual(['user: coffee', 'assistant: Coffee it is. Goodbye.']);
  });

  it('who is silent is asked once, then gets a goodbye', async () => {
    const harness = await held.harness.prepare(drinks, { max_user_idle_timeout: 5 });
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.pass(5_100);
    await harness.heardOut(stream);
    expect(harness.tts.asked.join(' ')).toContain('Are you still there?');
    await harness.pass(5_100);
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_idle_max_duration_exceeded');
    expect((await harness.transcript(done)).at(-1)).toMatch(/Goodbye\.$/);
    expect(stream.farEnd.clears).toBe(0);
    expect(harness.hangUps).toHaveLength(1);
  });

  it('who stays on the line is cut off at the longest duration', async () => {
    const harness = await held.harness.prepare(drinks, { max_call_duration: 20 });
    const { run } = await harness.inboundCall();
    await harness.pass(19_900);
    expect(harness.hangUps).toEqual([]);
    await harness.pass(200);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('call_duration_exceeded');
    expect(done.durationS).toBeCloseTo(20, 0);
    expect(harness.hangUps).toHaveLength(1);
  });
});

describe('a call that comes to its longest duration', () => {
  const words = 'Our time is almost up: this call will end shortly.';
  const warnings = (harness: CallHarness) =>
    harness.tts.asked.filter((asked) => asked.includes('almost up')).length;

  it('is announced to the caller, once, half a minute before', async () => {
    const harness = await held.harness.prepare(chat, {
      max_call_duration: 120,
      max_user_idle_timeout: 600,
    });
    const { run } = await harness.inboundCall();
    await harness.pass(89_900);
    expect(warnings(harness)).toBe(0);
    await harness.pass(10_000);
    expect(warnings(harness)).toBe(1);
    await harness.pass(20_200);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('call_duration_exceeded');
    expect(await harness.transcript(done)).toContain(`assistant: ${words}`);
    expect(warnings(harness)).toBe(1);
  }, 30_000);

  it('is announced in the words of the agent, and not while the caller speaks', async () => {
    const harness = await held.harness.prepare(chat, {
      max_call_duration: 60,
      max_user_idle_timeout: 600,
      call_ending_warning_seconds: 15,
      call_ending_warning_text: 'Noch kurz Zeit, {{name | liebe Kundin}}.',
    });
    const begunMs = harness.clock.monotonicMs();
    const { stream } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.passUntil(() => harness.clock.monotonicMs() - begunMs >= 44_500, 60_000);
    stream.line = 'voice';
    await harness.pass(300);
    harness.stt.understand('I have one more');
    await harness.pass(1_500);
    const frames = stream.frames;
    expect(harness.isSilent(stream)).toBe(true);
    stream.line = 'silence';
    await harness.passUntil(() => stream.frames > frames);
    expect(harness.tts.asked.join(' ')).toContain('Noch kurz Zeit, liebe Kundin.');
  }, 30_000);

  it.each([{ max_call_duration: 110 }, { max_call_duration: 120, call_ending_warning_seconds: 0 }])(
    'is not announced if it is short, or the setting says so: %j',
    async (settings) => {
      const harness = await held.harness.prepare(chat, { ...settings, max_user_idle_timeout: 600 });
      await harness.inboundCall();
      await harness.pass(105_000);
      expect(warnings(harness)).toBe(0);
    },
    30_000,
  );
});

describe('a service or a disk that fails', () => {
  it('mid-sentence is noted, and the call goes on', async () => {
    const harness = await held.harness.prepare();
    harness.tts.fails = { text: 'Tea or', afterMs: 100 };
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const done = await finish(harness, stream, run);
    expect(done.disposition).toBe('user_qualified');
    expect(await faults(harness, run)).toEqual([['TTS_FAILED', false]]);
  });

  it('and recognises no more leaves the keypad', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    harness.stt.die();
    const done = await finish(harness, stream, run);
    expect(done.gatheredContext['drink']).toBe('tea');
    expect(await faults(harness, run)).toEqual([['STT_FAILED', false]]);
  });

  it('and opens no recording leaves a call without one', async () => {
    const harness = await held.harness.prepare();
    harness.deps.files.create = () => Promise.reject(new Error('no such folder'));
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const done = await finish(harness, stream, run);
    expect(done).toMatchObject({ disposition: 'user_qualified', recordingKey: null });
    expect(await faults(harness, run)).toEqual([['RECORDING_FAILED', false]]);
  });

  it.each(['full', 'hung'])(
    'and whose disk is %s mid-call leaves what was written',
    async (how) => {
      const harness = await held.harness.prepare();
      const { create } = harness.deps.files;
      let bytes = 0;
      let error: Error | undefined;
      harness.deps.files.create = async (key) => {
        const file = await create(key);
        return {
          append: (chunk) => {
            bytes += chunk.length;
            if (bytes < 40_000) return file.append(chunk);
            if (how === 'full') error = new Error('ENOSPC');
            return how === 'full';
          },
          skip: (count) => file.skip(count),
          patch: (offset, chunk) => file.patch(offset, chunk),
          size: 0,
          lostBytes: 0,
          get error() {
            return error;
          },
          close: () => file.close(),
        };
      };
      const { stream, run } = await harness.inboundCall();
      await harness.heardOut(stream);
      await harness.pass(2_000);
      const done = await finish(harness, stream, run);
      expect(done).toMatchObject({ state: 'completed', disposition: 'user_qualified' });
      expect(await faults(harness, run)).toEqual([['RECORDING_FAILED', false]]);
    },
  );

  const away = new GatewayError('STORE_UNAVAILABLE');

  it('and has the store away during the call loses no event', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    const { appendEvents } = harness.deps.store.runs;
    harness.deps.store.runs.appendEvents = () => Promise.reject(away);
    await harness.heardOut(stream);
    await harness.pass(3_000);
    harness.deps.store.runs.appendEvents = appendEvents;
    await harness.pass(1_200);
    const done = await finish(harness, stream, run);
    expect(done.disposition).toBe('user_qualified');
    const events = await harness.events(run);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.body.type).toBe('call.ended');
  });

  it('and is taken over by another process ends here too, while others go on', async () => {
    const harness = await held.harness.prepare();
    const { run } = await harness.inboundCall();
    await harness.callControl.endTakenCalls(harness.deps.store);
    expect(harness.callControl.activeCalls).toBe(1);
    await harness.at.sql(
      `update runs set owner_node = 'other', owner_epoch = 5, fenced_epochs = array[owner_epoch]
       where id = $1`,
      [run.id],
    );
    await harness.callControl.endTakenCalls(harness.deps.store);
    await harness.until(() => harness.callControl.activeCalls === 0);
    // It is the other's to close.
    await harness.pass(1_000);
    expect((await harness.run(run.id)).state).toBe('running');
    expect((await harness.events(run)).map(({ body }) => body.type)).not.toContain('call.ended');
  });

  it('and has the store away at the end completes the run when it is back', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const { patch, appendEvents } = harness.deps.store.runs;
    harness.deps.store.runs.patch = () => Promise.reject(away);
    harness.deps.store.runs.appendEvents = () => Promise.reject(away);
    stream.key('1');
    await harness.heardOut(stream);
    await harness.until(() => harness.callControl.activeCalls === 0);
    expect(harness.hangUps).toHaveLength(1);
    await harness.pass(25_000);
    expect((await harness.run(run.id)).state).toBe('running');
    Object.assign(harness.deps.store.runs, { patch, appendEvents });
    await harness.pass(10_100);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_qualified');
    expect((await harness.events(run)).at(-1)?.body.type).toBe('call.ended');
  });
});

describe('a media socket that we close for a fault', () => {
  it.each([
    [1008, 'MEDIA_FLOOD', 'MEDIA_FLOOD'],
    [1002, 'MEDIA_MALFORMED', 'MEDIA_MALFORMED'],
    [1007, 'MEDIA_MALFORMED', 'MEDIA_MALFORMED'],
    [1009, 'MEDIA_OVERSIZED', 'MEDIA_OVERSIZED'],
    [1008, 'MEDIA_STALLED', 'MEDIA_STALLED'],
    [1011, 'internal error', 'UNEXPECTED'],
  ])('(%i %s) ends the call as an error, and says which', async (code, reason, fault) => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.lose(code, reason);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('pipeline_error');
    expect(await faults(harness, run)).toEqual([[fault, true]]);
    expect(done.gatheredContext['error']).toEqual(expect.any(String));
    expect(harness.hangUps).toHaveLength(1);
  });

  it('because nothing came has not connected', async () => {
    const harness = await held.harness.prepare();
    const url = mediaUrlIn(await harness.ring());
    const stream = await harness.connectTo(url);
    stream.lose(1008, 'MEDIA_SILENT');
    const [run] = await harness.runs();
    const done = await harness.ended({ id: run?.id ?? '' });
    expect(done.disposition).toBe('system_connect_error');
  });

  it('is none when the far end closes it in its own words', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.lose(1008, 'policy');
    expect((await harness.ended(run)).disposition).toBe('user_hangup');
    expect(await faults(harness, run)).toEqual([]);
  });
});

describe('an error of our own', () => {
  it('in a timer ends that call alone', async () => {
    const harness = await held.harness.prepare();
    const sick = await harness.inboundCall();
    await harness.heardOut(sick.stream);
    const healthy = await harness.inboundCall({ callId: 'CA2' });
    await harness.heardOut(healthy.stream);
    const speaking = vi.spyOn(CallAudio.prototype, 'speaking', 'get');
    speaking.mockImplementationOnce(() => {
      throw new Error('the pipeline is broken');
    });
    await harness.passUntil(() => speaking.mock.calls.length > 0);
    speaking.mockRestore();
    const done = await harness.completed(sick.run);
    expect(done.disposition).toBe('unexpected_error');
    expect(await faults(harness, sick.run)).toEqual([['UNEXPECTED', true]]);
    const well = await finish(harness, healthy.stream, healthy.run);
    expect(well.disposition).toBe('user_qualified');
  });

  it('in one call ends that call alone', async () => {
    const harness = await held.harness.prepare();
    const sick = await harness.inboundCall();
    const healthy = await harness.inboundCall({ callId: 'CA2' });
    await harness.pass(200);
    sick.stream.broken = true;
    await harness.pass(100);
    const done = await harness.completed(sick.run);
    expect(done.disposition).toBe('unexpected_error');
    expect(await faults(harness, sick.run)).toEqual([['UNEXPECTED', true]]);
    expect(sick.stream.closed?.code).toBe(1000);
    await harness.heardOut(healthy.stream);
    expect((await finish(harness, healthy.stream, healthy.run)).disposition).toBe('user_qualified');
    expect(harness.hangUps).toHaveLength(2);
  });

  it('while the caller is heard ends that call alone', async () => {
    const harness = await held.harness.prepare();
    const { open } = harness.deps.services.vad;
    let isBroken = false;
    harness.deps.services.vad.open = (listener) => {
      const vad = open.call(harness.deps.services.vad, listener);
      return {
        ...vad,
        push(window, endMs) {
          if (isBroken) throw new Error('the detector is broken');
          vad.push(window, endMs);
        },
      };
    };
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    isBroken = true;
    await harness.pass(100);
    expect((await harness.ended(run)).disposition).toBe('unexpected_error');
    expect(harness.hangUps).toHaveLength(1);
  });

  it('in the engine ends that call alone', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const now = harness.clock.now.bind(harness.clock);
    harness.clock.now = () => {
      harness.clock.now = now;
      throw new Error('the clock is broken');
    };
    stream.key('1');
    await harness.pass(100);
    const done = await harness.ended(run);
    expect(done.disposition).toMatch(/unexpected_error/);
    expect(mediaUrlIn(await harness.ring('CallSid=CA2'))).toContain('wss://');
  });
});
