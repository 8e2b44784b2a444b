// A call while the process is busy: its turns come every 40 or 80 ms.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { Playout } from '../../src/pipeline/speak/playout.ts';
import { CallRig } from './call-rig.ts';

const LEAD = { aimMs: 60, maxMs: 160, stallMsMax: 160, stepMs: 80 };
const SPEECH = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen';

const unexpected = (error: unknown) => expect(error).toBeUndefined();

/** As the process does when it is busy. */
function lengthen({ mediaClock }: CallRig, strideMs: number): void {
  for (let ms = 20; ms < strideMs; ms *= 2) mediaClock.setLoad(0.9);
}

describe('a call in long strides', () => {
  let rig: CallRig;
  afterEach(() => rig.audio.close());

  it.each([20, 40, 80])('of %d ms has its audio ahead', async (strideMs) => {
    rig = new CallRig({ lead: LEAD });
    lengthen(rig, strideMs);
    rig.say(SPEECH);
    await rig.run(500);
    const { farEnd } = rig;
    farEnd.aheadMsMin = Number.POSITIVE_INFINITY; // It begins with what the synthesiser has.
    await rig.run(3_500);
    expect(farEnd.frames.length).toBeGreaterThan(100);
    expect(farEnd.aheadMsMin).toBeGreaterThanOrEqual(60);
    expect(farEnd.aheadMsMax).toBeLessThanOrEqual(160);
    const gaps = farEnd.frames
      .slice(1)
      .filter(({ atMs }, nth) => atMs !== farEnd.frames[nth]?.untilMs);
    expect(gaps).toEqual([]);
    expect(farEnd.messages).toBeLessThanOrEqual(farEnd.frames.length / 3);
  });

  it('keeps its audio together when strides change', async () => {
    rig = new CallRig({ lead: LEAD });
    rig.say(`${SPEECH} ${SPEECH}`);
    const felt = [0.9, 0.5, 0.9, 0.1, 0.9, 0.1, 0.1];
    for (let nth = 0; nth < 60; nth++) {
      rig.mediaClock.setLoad(felt[nth % felt.length] ?? 0);
      await rig.run(100);
    }
    const { frames } = rig.farEnd;
    expect(frames.length).toBeGreaterThan(200);
    expect(frames.slice(1).every(({ atMs }, nth) => atMs === frames[nth]?.untilMs)).toBe(true);
  });

  it('is read at its turns, and by itself again in short strides and after its end', async () => {
    const steps: string[] = [];
    rig = new CallRig({
      lead: LEAD,
      inflow: {
        setBatched: (on) => steps.push(on ? 'gather' : 'flow'),
        readNow: () => steps.push('take'),
      },
    });
    await rig.run(100);
    expect(steps).toEqual([]);
    rig.mediaClock.setLoad(0.9);
    await rig.run(120);
    expect(steps).toEqual(['gather', 'take', 'take', 'take']);
    rig.mediaClock.setLoad(0.1);
    await rig.run(100);
    expect(steps.splice(0)).toEqual(['gather', 'take', 'take', 'take', 'flow']);
    rig.mediaClock.setLoad(0.9);
    await rig.run(40);
    await rig.audio.close();
    await rig.run(100);
    expect(steps).toEqual(['gather', 'take', 'flow']);
  });

  it('speaks on while the process is behind, and reads at later turns', async () => {
    let reads = 0;
    const inflow = { setBatched: () => undefined, readNow: () => reads++ };
    rig = new CallRig({ lead: LEAD, inflow });
    const { clock, mediaClock, farEnd } = rig;
    lengthen(rig, 80);
    rig.say(SPEECH);
    await rig.run(1_000);
    const taker = { send: () => undefined, receive: () => clock.stall(5) };
    const ends = Array.from({ length: 64 }, () => mediaClock.add(taker, unexpected, true));
    await rig.run(400);
    [reads, farEnd.aheadMsMin] = [0, Number.POSITIVE_INFINITY];
    await rig.run(1_600);
    expect(farEnd.aheadMsMin).toBeGreaterThanOrEqual(50);
    expect(reads).toBeGreaterThan(2);
    expect(reads).toBeLessThan(15);
    for (const end of ends) end();
  });

  it('has the exact playhead when it analyses audio, with any delay', async () => {
    const stale: number[] = [];
    const inflow = {
      setBatched: () => undefined,
      readNow: () => stale.push(rig.audio.mediaMs - (advance.mock.lastCall?.[0] ?? 0)),
    };
    const advance = vi.spyOn(Playout.prototype, 'advance');
    rig = new CallRig({ lead: LEAD, inflow });
    const { clock, mediaClock } = rig;
    lengthen(rig, 80);
    const taker = { send: () => undefined, receive: () => clock.stall(3) };
    const ends = Array.from({ length: 64 }, () => mediaClock.add(taker, unexpected, true));
    await rig.run(2_000);
    expect(stale.length).toBeGreaterThan(3);
    expect(Math.max(...stale)).toBeLessThanOrEqual(6);
    for (const end of ends) end();
    advance.mockRestore();
  });

  it('may end within what it reads', async () => {
    let turns = 0;
    rig = new CallRig({
      lead: LEAD,
      inflow: {
        setBatched: () => undefined,
        readNow: () => {
          turns++;
          if (turns === 3) void rig.audio.close();
        },
      },
    });
    rig.mediaClock.setLoad(0.9);
    rig.say(SPEECH);
    await rig.run(1_000);
    expect(turns).toBe(3);
    expect(rig.of('broken')).toEqual([]);
  });

  it.each([
    ['nothing', 30],
    ['nothing', 41],
    ['nothing', 60],
    ['mhm', 30],
    ['mhm', 41],
  ])(
    'speaks as soon as it is found that the caller said %s, after %d ms',
    async (what, finalMs) => {
      rig = new CallRig({ lead: LEAD });
      rig.stt.finalMs = finalMs;
      lengthen(rig, 80);
      // First words have a rule of their own.
      rig.play('Hello.', new Int16Array(800).fill(1_000));
      await rig.run(600);
      expect(rig.of('utterance-finished')).toHaveLength(1);
      rig.line = 'voice';
      await rig.run(300);
      if (what !== 'nothing') rig.stt.understand(what, { silently: true });
      rig.line = 'silence';
      await rig.run(500);
      rig.play(SPEECH, new Int16Array(40_000).fill(1_000));
      const freed: number[] = [];
      for (let ms = 0; ms < 1_000 && rig.of('utterance-started').length === 1; ms++) {
        rig.clock.advance(1);
        if (!rig.audio.callerSpeaking) freed.push(rig.nowMs);
      }
      expect(freed).toEqual([rig.of('utterance-started')[1]?.atMs]);
      expect(rig.farEnd.frames.length).toBeGreaterThan(0);
    },
  );

  it('is interrupted as soon as in short ones, a stride later at most', async () => {
    const silenceMs: number[] = [];
    for (const strideMs of [20, 40, 80]) {
      rig = new CallRig({ lead: LEAD });
      lengthen(rig, strideMs);
      rig.say(`${SPEECH} ${SPEECH}`);
      await rig.run(1_500);
      await rig.says('wait a moment please', 1_200);
      const [interruption] = rig.of('interruption');
      silenceMs.push(interruption?.facts.silenceMs ?? Number.NaN);
      await rig.audio.close();
    }
    const [shortest = Number.NaN, longer, longest] = silenceMs;
    expect(longer).toBeLessThanOrEqual(shortest + 40);
    expect(longest).toBeLessThanOrEqual(shortest + 80);
  });
});
