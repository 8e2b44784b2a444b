// Files that the package wavefile writes, read through its thread; and hostile ones. The package is the oracle.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import wavefile from 'wavefile';
import { decodeImaAdpcm } from '../../../src/audio/conversion/ima-adpcm.ts';
import { WavConverter } from '../../../src/audio/conversion/wav-conversion.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { sine } from '../sine.ts';

const converter = new WavConverter(systemClock);
const TONE = sine({ hz: 440, rateHz: 8_000, count: 8_080, amplitude: 8_000 });
/** What ffmpeg writes, and (the hash of) what it reads from it, 16-bit little-endian: 100 samples of a tone of
 *  440 Hz, with one of 1000 Hz in the second channel. `ffmpeg -c:a adpcm_ima_wav -block_size 64`. */
const ADPCM = [
  {
    channels: 1,
    file:
      '524946467400000057415645666d74201400000011000100401f0000803e00000400040002007900666163' +
      '740400000079000000646174614000000000000000' +
      '77777717bfbb893136342288dbbcbb993136342280dbdbba892044432291babecb992053242300cabcac9a28' +
      '63331401b9cd80808000880088008800',
    hash: '42c832ac63ddbba70c475b6752cf1e8eafea2b9f00aeceb73c789e5aee470ba8',
  },
  {
    channels: 2,
    file:
      '52494646b400000057415645666d74201400000011000200401f0000803e00004000040002003900666163' +
      '7404000000720000006461746180000000000000000000000077777717' +
      '77d7ff5fbfbb893177f29c413634228813ba9d41dbbcbb9913ba9d413136342213ba9d4180dbdbba13ba9d41' +
      '8920444313ba9d4171173f003e37510011a8bcad91bc2934ab08423491bd19442412a8eb80ac1943bbbb0942' +
      '91bc1935353412a8a1bc1935db0c0808a18b08800808080808808008',
    hash: '62b2729d884b1faf60300668b437f80cd036d3a9e75c5acca67c7b35c719444a',
  },
];

function written(bitDepth: string, container = 'RIFF'): Buffer {
  const file = new wavefile.WaveFile();
  file.fromScratch(1, 8_000, '16', TONE);
  if (bitDepth !== '16') file.toBitDepth(bitDepth);
  if (container === 'RIFX') file.toRIFX();
  const bytes = Buffer.from(file.toBuffer());
  return container === 'RF64' ? rf64Of(bytes) : bytes;
}

/** The same with 64-bit sizes, which the package reads and does not write. Source: EBU Tech 3306. */
function rf64Of(riff: Buffer): Buffer {
  const sizes = Buffer.alloc(36);
  sizes.write('ds64', 0, 'latin1');
  sizes.writeUInt32LE(28, 4);
  sizes.writeBigUInt64LE(BigInt(riff.length - 8 + sizes.length), 8);
  const dataAt = riff.indexOf('data');
  sizes.writeBigUInt64LE(BigInt(riff.readUInt32LE(dataAt + 4)), 16);
  const file = Buffer.concat([riff.subarray(0, 12), sizes, riff.subarray(12)]);
  file.write('RF64', 0, 'latin1');
  file.writeUInt32LE(0xffff_ffff, 4);
  file.writeUInt32LE(0xffff_ffff, dataAt + sizes.length + 4);
  return file;
}

function errorMax(one: Int16Array, other: Int16Array): number {
  return one.reduce((most, sample, nth) => Math.max(most, Math.abs(sample - (other[nth] ?? 0))), 0);
}

describe('a file of another kind', () => {
  it.each([
    ['big-endian PCM', '16', 'RIFX', 0],
    ['big-endian 24-bit PCM', '24', 'RIFX', 1],
    ['big-endian floats', '32f', 'RIFX', 1],
    ['RF64', '16', 'RF64', 0],
    ['RF64 of doubles', '64', 'RF64', 1],
  ])('is read: %s', async (_name, bitDepth, container, most) => {
    const wav = readWav(await converter.readable(written(bitDepth, container)));
    expect([wav.rateHz, wav.channels]).toEqual([8_000, 1]);
    expect(wav.samples.length).toBeGreaterThanOrEqual(TONE.length);
    expect(errorMax(TONE, wav.samples)).toBeLessThanOrEqual(most);
  });

  it.each(ADPCM)('is read as ffmpeg reads it: IMA ADPCM of $channels channels', async (given) => {
    const wav = readWav(await converter.readable(Buffer.from(given.file, 'hex')));
    expect([wav.rateHz, wav.channels]).toEqual([8_000, given.channels]);
    const bytes = Buffer.from(wav.samples.buffer, wav.samples.byteOffset, wav.samples.byteLength);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(given.hash);
  });

  it('is not touched if it is of a kind that needs no conversion', async () => {
    const bytes = written('16');
    expect(await converter.readable(bytes)).toBe(bytes);
  });
});

describe('a file that cannot be read', () => {
  const reasonOf = async (bytes: Uint8Array, by = converter): Promise<string> => {
    const error = await by.readable(bytes).catch((thrown: unknown) => thrown);
    expect(codeOf(error)).toBe('WAV_UNREADABLE');
    return error instanceof Error ? error.message : '';
  };

  it('says why', async () => {
    for (const file of [
      Buffer.from('ID3 this is no WAV file at all, but music'),
      Buffer.alloc(0),
    ]) {
      expect(await reasonOf(file)).toContain('it does not begin with RIFF and WAVE');
    }
    expect(await reasonOf(written('16', 'RIFX').subarray(0, 30))).toContain('it is damaged');
  });

  it('is one of IMA ADPCM whose blocks have no samples', async () => {
    const file = Buffer.from(ADPCM[0]?.file ?? '', 'hex');
    file.writeUInt16LE(0, 38);
    expect(await reasonOf(file)).toContain('it has blocks without samples');
  });

  it('is one that is larger than an upload may be', async () => {
    expect(await reasonOf(Buffer.alloc(10_485_761))).toContain('it is too large');
  });

  it('does not keep its thread: after ten seconds it is given up, and the next one is read', async () => {
    const clock = new FakeClock();
    const stuck = new WavConverter(clock, new URL('data:text/javascript,for(;;){}'));
    const refused = reasonOf(Buffer.from('stuck'), stuck);
    await expect.poll(() => clock.timers).toBe(1);
    clock.advance(10_000);
    expect(await refused).toContain('reading it takes too long');
    expect(clock.timers).toBe(0);
  });

  it('may end its thread', async () => {
    const dying = new WavConverter(
      systemClock,
      new URL('data:text/javascript,throw new Error("broken")'),
    );
    expect(await reasonOf(Buffer.from('dies'), dying)).toContain('it cannot be read');
  });
});

it('IMA ADPCM of any bytes, blocks and channels decodes', () => {
  const bytes = fc.uint8Array({ maxLength: 600 });
  const shape = {
    channels: fc.integer({ min: 1, max: 4 }),
    blockBytes: fc.integer({ min: 20, max: 300 }),
  };
  fc.assert(
    fc.property(bytes, fc.record(shape), (all, options) => {
      expect(decodeImaAdpcm(all, options).length % options.channels).toBe(0);
    }),
  );
});
