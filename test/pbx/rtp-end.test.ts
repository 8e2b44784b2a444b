// The telephone's audio of the real-PBX run, between two ends, and the result of a run as a table.

import { afterEach, expect, it, vi } from 'vitest';
import { sine, taken } from '../audio/sounds.ts';
import { meanDbfs, RtpEnd, soundOf, TONE } from './rtp-end.ts';
import { exitCodeOf, type Outcome, tableOf } from './table.ts';

const ends: RtpEnd[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end.close();
});

async function pair(): Promise<[RtpEnd, RtpEnd]> {
  const [near, far] = [await RtpEnd.open(), await RtpEnd.open()];
  ends.push(near, far);
  near.connect(far.port);
  far.connect(near.port);
  return [near, far];
}

it('measures the level of a tone within 0.2 dB, and what keys were sent', async () => {
  const [near, far] = await pair();
  near.play(true);
  await vi.waitFor(() => expect(far.totalMs('tone', 0)).toBeGreaterThanOrEqual(100));
  // A sine's mean square is 3 dB below its peak.
  expect(far.toneDbfs(0)).toBeCloseTo(TONE.levelDbfs - 3.01, 0.5);
  near.press('42#');
  await vi.waitFor(() => expect(far.digits).toBe('42#'));
});

it('sends nothing while on hold', async () => {
  const [near, far] = await pair();
  await vi.waitFor(() => expect(far.heard.length).toBeGreaterThan(2));
  near.hold(true);
  // What is under way has arrived once nothing more has for 300 ms.
  let before = -1;
  await vi.waitFor(
    () => {
      const { length } = far.heard;
      const isStill = length === before;
      before = length;
      expect(isStill).toBe(true);
    },
    { interval: 300 },
  );
});

it('distinguishes the tone from silence and from other sounds', () => {
  const frame = (hz: number, levelDbfs: number) => taken(sine({ hz, levelDbfs }), 1);
  expect(soundOf(frame(TONE.hz, TONE.levelDbfs)).sound).toBe('tone');
  expect(soundOf(frame(600, TONE.levelDbfs)).sound).toBe('other');
  expect(soundOf(frame(TONE.hz, -60)).sound).toBe('silence');
  expect(meanDbfs([-20, -20])).toBeCloseTo(-20);
});

it('fails a run of which a row fails, or nothing was tried', () => {
  const ok: Outcome = { mode: 'rtp', feature: 'hold', result: 'ok', text: '12 s' };
  const failed: Outcome = { ...ok, mode: 'client', result: 'FAILED', text: 'a | b' };
  const skipped: Outcome = { ...ok, feature: 'away', result: 'skipped', text: 'no module' };
  expect(exitCodeOf([ok, skipped])).toBe(0);
  expect(exitCodeOf([ok, failed])).toBe(1);
  expect(exitCodeOf([skipped])).toBe(1);
  expect(tableOf([ok, failed, skipped]).split('\n')).toEqual([
    '| feature | rtp | client |',
    '| --- | --- | --- |',
    '| hold | ok: 12 s | FAILED: a / b |',
    '| away | skipped: no module |  |',
  ]);
});
