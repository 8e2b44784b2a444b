import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { readWav, wavHeader } from '../../../src/audio/wav.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { LocalFileStore } from '../../../src/store/files/local-file-store.ts';
import {
  openTrack,
  type RecordingTrack,
  trackBytes,
} from '../../../src/store/files/recording-tracks.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { rounds } from '../../rounds.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-tracks-'));
const files = new LocalFileStore(folder, { clock: new FakeClock(), random: systemRandom });
const KEY = 'recordings/1.wav';
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function store(samples: readonly number[], channels = 2): Promise<number> {
  const data = Buffer.from(Int16Array.from(samples).buffer);
  const header = wavHeader({ rateHz: 8_000, channels, dataBytes: data.length });
  await files.write(KEY, Buffer.concat([header, data]));
  return header.length + data.length;
}

async function read(track: RecordingTrack, start: number, end: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of await openTrack(files, { key: KEY, track, start, end })) {
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

describe('a track of a stereo recording', () => {
  it.each<[RecordingTrack, number[]]>([
    ['caller', [100, -200, 32_000]],
    ['agent', [5, 6, 32_000]],
    ['mix', [105, -194, 32_767]],
  ])('%s is a mono file of the same rate', async (track, expected) => {
    const stored = await store([100, 5, -200, 6, 32_000, 32_000]);
    const bytes = await read(track, 0, trackBytes(stored) - 1);
    expect(bytes.length).toBe(trackBytes(stored));
    const wav = readWav(bytes);
    expect([wav.rateHz, wav.channels, [...wav.samples]]).toEqual([8_000, 1, expected]);
    expect(bytes.readUInt32LE(28)).toBe(16_000);
    expect(bytes.readUInt16LE(32)).toBe(2);
  });

  it('gives any range as the same bytes as the whole, over many pieces of the file', async () => {
    const stored = await store(Array.from({ length: 100_000 }, (_none, i) => (i * 7) % 30_000));
    const size = trackBytes(stored);
    const whole = await read('mix', 0, size - 1);
    const position = fc.oneof(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: size - 1 }),
    );
    await fc.assert(
      fc.asyncProperty(position, position, async (one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        const part = await read('mix', start, end);
        expect(part.equals(whole.subarray(start, end + 1))).toBe(true);
      }),
      { numRuns: rounds(60, 120) },
    );
  });

  it('leaves out half a moment at the end of a file that is being written', async () => {
    const stored = await store([1, 2, 3]);
    expect(trackBytes(stored)).toBe(46);
    expect([...readWav(await read('agent', 0, 45)).samples]).toEqual([2]);
  });

  it('of a recording that is not there, or is no stereo WAV, is refused', async () => {
    await store([1, 2], 1);
    await expect(read('caller', 0, 45)).rejects.toMatchObject({ code: 'WAV_UNREADABLE' });
    await files.write(KEY, Buffer.from('short'));
    await expect(read('caller', 0, 43)).rejects.toMatchObject({ code: 'WAV_UNREADABLE' });
    await files.remove(KEY);
    await expect(read('caller', 0, 43)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });
});
