// Recordings on the disk of a gateway whose runs another one has closed.

import { utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readWav, wavHeader } from '../../../src/audio/wav.ts';
import { LeftRecordings } from '../../../src/call/end/left-recordings.ts';
import { recordingKey } from '../../../src/store/files/run-files.ts';
import { withStore } from '../../store/engines.ts';
import { ground, newRun } from '../../store/runs/completed-runs.ts';

const test = withStore();
let left: LeftRecordings;
let attached: string[];
beforeEach(() => {
  attached = [];
  const { store, clock, log } = test;
  const onAttached = (runId: string): void => void attached.push(runId);
  left = new LeftRecordings({ store, spool: store.spool, onAttached, clock, log });
});
afterEach(() => left.close());

/** A run that was closed, with media or without. */
async function closedRun(change: object = {}): Promise<string> {
  const { run } = await test.store.runs.create({ ...newRun(await ground(test)), ...change }, 100);
  const startedAt = new Date(test.clock.now() - 60_000);
  await test.store.runs.patch(run.id, { state: 'running', startedAt });
  await test.store.runs.patch(run.id, { state: 'completed' });
  return run.id;
}

/** A recording of half a second whose writer was killed that long ago. */
async function leave(runId: string, ageMs: number): Promise<string> {
  const dataBytes = Number.MAX_SAFE_INTEGER;
  const head = wavHeader({ rateHz: 8_000, channels: 2, dataBytes });
  // The last sample was cut off.
  const key = recordingKey(runId);
  await test.store.spool.write(
    key,
    Buffer.concat([head, Buffer.alloc(16_000, 1), Buffer.alloc(3)]),
  );
  const at = (test.clock.now() - ageMs) / 1_000;
  utimesSync(test.store.spool.pathOf(key), at, at);
  return key;
}

const keyOf = async (id: string) => (await test.store.runs.find(id))?.recordingKey;

describe('a recording of a killed gateway', () => {
  it('is attached to its run, with a header of its length', async () => {
    const id = await closedRun();
    const key = await leave(id, 31_000);
    left.start();
    await vi.waitFor(async () => expect(await keyOf(id)).toBe(key));
    const wav = readWav(await test.store.spool.readAll(key));
    expect([wav.rateHz, wav.channels, wav.samples.length]).toEqual([8_000, 2, 8_000]);
    await vi.waitFor(() => expect(attached).toEqual([id]));
  });

  it('waits while somebody may still write it', async () => {
    const [busy, quiet] = [await closedRun(), await closedRun()];
    await leave(busy, 29_000);
    await leave(quiet, 31_000);
    left.start();
    await vi.waitFor(() => expect(attached).toEqual([quiet]));
    expect(await keyOf(busy)).toBeNull();
    await vi.waitFor(() => {
      test.clock.advance(60_000);
      expect(attached).toEqual([quiet, busy]);
    });
  });

  it('is that of a completed run without one: no open run and no text chat gets any', async () => {
    const { run: open } = await test.store.runs.create(newRun(await ground(test)), 100);
    const chat = await closedRun({ mode: 'textchat' });
    const had = await closedRun();
    await test.store.runs.patch(had, { recordingKey: 'recordings/other.wav' });
    const found = await closedRun();
    for (const id of [open.id, chat, had, found]) await leave(id, 31_000);
    left.start();
    await vi.waitFor(() => expect(attached).toEqual([found]));
    expect(await keyOf(had)).toBe('recordings/other.wav');
    expect([await keyOf(open.id), await keyOf(chat)]).toEqual([null, null]);
  });
});

describe('the look for runs without a recording', () => {
  it('reads an index that the usual run never enters', async () => {
    await test.sql('set enable_seqscan = off');
    const plan = await test.sql(
      `explain select id from runs where state = 'completed' and recording_key is null
       and started_at is not null and mode <> 'textchat' order by id desc limit 1000`,
    );
    await test.sql('set enable_seqscan = on');
    expect(JSON.stringify(plan)).toContain('runs_without_recording');
  });
});
