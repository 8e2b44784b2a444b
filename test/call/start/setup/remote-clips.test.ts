// Clips and background noise whose files other machines hold: a call waits for them once a minute at most.

import { beforeEach, expect, it } from 'vitest';
import { wavHeader } from '../../../../src/audio/wav.ts';
import { ClipLibrary } from '../../../../src/call/start/setup/sound-library.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { FileStore } from '../../../../src/store/files/file-store.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

const KEY = 'ambient_noise/1/2/office.wav';

function wav(level: number): Buffer {
  const samples = Buffer.alloc(16_000);
  for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE(level, at);
  const head = wavHeader({ rateHz: 8_000, channels: 1, dataBytes: samples.length });
  return Buffer.concat([head, samples]);
}

let clock: FakeClock;
let file: { bytes: Buffer; etag: string };
let asked: string[];
let isAway: boolean;
let isSilent: boolean;
let library: ClipLibrary;

beforeEach(() => {
  clock = new FakeClock();
  file = { bytes: wav(1_000), etag: '"one"' };
  asked = [];
  isAway = false;
  isSilent = false;
  library = libraryOf(true);
});

function libraryOf(isRemote: boolean): ClipLibrary {
  const answer = async <T>(what: string, value: () => T): Promise<T> => {
    asked.push(what);
    if (isSilent) await new Promise(() => undefined);
    if (isAway) throw new GatewayError('FILES_UNAVAILABLE');
    return value();
  };
  const files = {
    stat: () =>
      answer('stat', () => ({
        size: file.bytes.length,
        modifiedAt: new Date(0),
        etag: file.etag,
      })),
    readAll: () => answer('read', () => file.bytes),
  } as unknown as FileStore; // The library uses no more.
  const store = { clips: { find: async () => [] } } as never; // No rows: noise has none.
  return new ClipLibrary({ store, files, isRemote, clock, log: quietLog().log });
}

const level = async (): Promise<number | undefined> => (await library.noise('1', KEY))?.[4_000];

it('are looked at again after a minute, not at each call', async () => {
  expect(await level()).toBe(1_000);
  expect(asked).toEqual(['stat', 'read']);
  clock.advance(59_000);
  expect(await level()).toBe(1_000);
  expect(asked).toEqual(['stat', 'read']);
  clock.advance(1_000);
  expect(await level()).toBe(1_000);
  expect(asked).toEqual(['stat', 'read', 'stat']);
});

it('are loaded again when the file has another ETag', async () => {
  await level();
  file = { bytes: wav(2_000), etag: '"two"' };
  clock.advance(60_000);
  expect(await level()).toBe(2_000);
});

it('are those of the last look while the files cannot be reached', async () => {
  await level();
  isAway = true;
  clock.advance(60_000);
  expect(await level()).toBe(1_000);
});

it('are waited for half a second at most when they are known', async () => {
  await level();
  isSilent = true;
  clock.advance(60_000);
  const late = level();
  await clock.advanceAsync(500);
  expect(await late).toBe(1_000);
});

it('on the own disk are looked at for each call', async () => {
  library = libraryOf(false);
  await level();
  file = { bytes: wav(2_000), etag: '"two"' };
  expect(await level()).toBe(2_000);
  isAway = true;
  expect(await level()).toBeUndefined();
});
