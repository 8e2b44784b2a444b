import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import wavefile from 'wavefile';
import { readWav, WAV_HEADER_BYTES, wavHeader } from '../../src/audio/wav.ts';
import { codeOf } from '../../src/errors/gateway-error.ts';
import { rounds } from '../rounds.ts';

/** A file of ffmpeg: `ffmpeg -f s16le -ar 8000 -ac 1 -i - -c:a pcm_mulaw -f wav -`, 4 samples in
 *  (0, 1000, -1000, 32767); it puts a LIST chunk before the data. */
const ffmpegUlaw = Buffer.from(
  '524946465800000057415645666d74201200000007000100401f0000401f00000100080000006661' +
    '637404000000040000004c4953541a000000494e464f495346540e0000004c61766635392e32372e' +
    '313030006461746104000000ffce4e80',
  'hex',
);

function unreadable(reason: string): object {
  return expect.objectContaining({ code: 'WAV_UNREADABLE', facts: { reason } });
}

const NEITHER = 'is neither PCM of 8 to 32 bits, nor floats, nor G.711';

/** A file of one channel with that format and those bytes. */
function encoded(tag: number, bits: number, data: Buffer): Buffer {
  const bytes = Buffer.concat([file([]), data]);
  bytes.writeUInt16LE(tag, 20);
  bytes.writeUInt16LE(bits, 34);
  bytes.writeUInt32LE(data.length, 40);
  return bytes;
}

function file(samples: number[], channels = 1): Buffer {
  const data = Buffer.from(Int16Array.from(samples).buffer);
  return Buffer.concat([wavHeader({ rateHz: 8_000, channels, dataBytes: data.length }), data]);
}

describe('wavHeader', () => {
  it('is the canonical 44 bytes', () => {
    const header = wavHeader({ rateHz: 8_000, channels: 2, dataBytes: 640 });
    expect(header).toHaveLength(WAV_HEADER_BYTES);
    expect(header.toString('hex')).toBe(
      '52494646a402000057415645666d74201000000001000200401f0000007d00000400100064617461' +
        '80020000',
    );
  });

  it('stays valid for more data than a WAV file can name', () => {
    const header = wavHeader({ rateHz: 8_000, channels: 2, dataBytes: 5e9 });
    expect(header.readUInt32LE(4)).toBe(0xffff_ffff);
  });
});

describe('readWav', () => {
  it('reads what wavHeader begins', () => {
    expect(readWav(file([1, -2, 32_767, -32_768], 2))).toEqual({
      rateHz: 8_000,
      channels: 2,
      samples: Int16Array.of(1, -2, 32_767, -32_768),
    });
  });

  it('reads µ-law as ffmpeg writes it, and skips unknown chunks', () => {
    expect(readWav(ffmpegUlaw)).toEqual({
      rateHz: 8_000,
      channels: 1,
      samples: Int16Array.of(0, 988, -988, 32_124),
    });
  });

  it('reads A-law', () => {
    const bytes = Buffer.concat([file([]), Buffer.of(0xd5, 0x55, 0xaa, 0x2a)]);
    bytes.writeUInt16LE(6, 20);
    bytes.writeUInt16LE(8, 34);
    bytes.writeUInt32LE(4, 40);
    expect([...readWav(bytes).samples]).toEqual([8, -8, 32_256, -32_256]);
  });

  it.each([
    ['8 bits', 1, 8, Buffer.of(0x80, 0x00, 0xff, 0x81), [0, -32_768, 32_512, 256]],
    [
      '24 bits, rounded',
      1,
      24,
      Buffer.from('000000 000080 ffff7f 7f0000 800000 800001'.replaceAll(' ', ''), 'hex'),
      [0, -32_768, 32_767, 0, 1, 257],
    ],
    [
      '32 bits, rounded',
      1,
      32,
      Buffer.from('00000000 00000080 ffffff7f ff7f0000 00800000'.replaceAll(' ', ''), 'hex'),
      [0, -32_768, 32_767, 0, 1],
    ],
  ])('reads PCM of %s', (_what, tag, bits, data, samples) => {
    expect([...readWav(encoded(tag, bits, data)).samples]).toEqual(samples);
  });

  it('reads floats: full scale is 1, more is cut, what is no number is silence', () => {
    const values = [0, 0.5, -0.5, 1, -1, 2, Number.NaN, Number.NEGATIVE_INFINITY];
    const samples = [0, 16_384, -16_384, 32_767, -32_768, 32_767, 0, -32_768];
    const short = Buffer.from(Float32Array.from(values).buffer);
    const long = Buffer.from(Float64Array.from(values).buffer);
    expect([...readWav(encoded(3, 32, short)).samples]).toEqual(samples);
    expect([...readWav(encoded(3, 64, long)).samples]).toEqual(samples);
  });

  it('reads the extensible format', () => {
    const fmt = Buffer.alloc(48);
    fmt.write('fmt ', 0, 'latin1');
    fmt.writeUInt32LE(40, 4);
    fmt.writeUInt16LE(0xfffe, 8);
    fmt.writeUInt16LE(1, 10);
    fmt.writeUInt32LE(16_000, 12);
    fmt.writeUInt16LE(16, 22);
    fmt.writeUInt16LE(1, 32);
    const whole = file([5, 6]);
    const bytes = Buffer.concat([whole.subarray(0, 12), fmt, whole.subarray(36)]);
    expect(readWav(bytes)).toEqual({ rateHz: 16_000, channels: 1, samples: Int16Array.of(5, 6) });
  });

  it('reads a stream whose header declares more than there is', () => {
    const bytes = file([7, 8, 9]);
    bytes.writeUInt32LE(0xffff_ffff, 40);
    expect([...readWav(bytes).samples]).toEqual([7, 8, 9]);
  });

  it('drops half a sample at the end', () => {
    expect([...readWav(file([7, 8]).subarray(0, 47)).samples]).toEqual([7]);
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'it does not begin with RIFF and WAVE'],
    ['an MP3', Buffer.from('ID3\u0004 and so on'), 'it does not begin with RIFF and WAVE'],
    ['a header alone', file([]).subarray(0, 36), 'there is no data chunk'],
    [
      'data first',
      Buffer.concat([file([]).subarray(0, 12), file([1]).subarray(36)]),
      'the data chunk comes before the format chunk',
    ],
  ])('refuses %s', (_what, bytes, reason) => {
    expect(() => readWav(bytes)).toThrow(unreadable(reason));
  });

  it.each([
    ['20 bits', 34, 20, `format 1 with 20 bits ${NEITHER}`],
    ['floats of 16 bits', 20, 3, `format 3 with 16 bits ${NEITHER}`],
    ['ADPCM', 20, 2, `format 2 with 16 bits ${NEITHER}`],
    ['no channel', 22, 0, 'it has 0 channels'],
  ])('refuses %s', (_what, offset, value, reason) => {
    const bytes = file([1]);
    bytes.writeUInt16LE(value, offset);
    expect(() => readWav(bytes)).toThrow(unreadable(reason));
  });

  it('gives samples or WAV_UNREADABLE for any bytes', () => {
    const damaged = fc
      .record({
        tag: fc.constantFrom(1, 3, 6, 7, 0xfffe),
        bits: fc.constantFrom(8, 16, 24, 32, 64),
        at: fc.nat(47),
        bytes: fc.uint8Array({ maxLength: 20 }),
        length: fc.nat(60),
      })
      .map(({ tag, bits, at, bytes, length }) => {
        const whole = encoded(tag, bits, Buffer.from(file([1, 2, 3, 4, 5, 6, 7, 8]).subarray(44)));
        whole.set(bytes.subarray(0, whole.length - at), at);
        return whole.subarray(0, length);
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), damaged), (bytes) => {
        try {
          const { samples, channels } = readWav(bytes);
          expect(samples.length % channels).toBe(0);
        } catch (error) {
          expect(codeOf(error)).toBe('WAV_UNREADABLE');
        }
      }),
      { numRuns: rounds(500) },
    );
  });
});

describe('the package wavefile', () => {
  const anySamples = fc.array(fc.integer({ min: -32_768, max: 32_767 }), {
    minLength: 2,
    maxLength: 200,
  });
  const anyRateHz = fc.constantFrom(8_000, 11_025, 16_000, 44_100, 48_000);
  const evenly = (samples: number[], channels: number): Int16Array =>
    Int16Array.from(samples.slice(0, samples.length - (samples.length % channels)));
  const interleaved = (file: wavefile.WaveFile): number[] => {
    const { samples } = file.data as { samples: Uint8Array };
    const bytes = Buffer.from(samples);
    return Array.from({ length: bytes.length / 2 }, (_, nth) => bytes.readInt16LE(2 * nth));
  };

  it('reads what wavHeader begins, whatever the samples, channels and rate', () => {
    fc.assert(
      fc.property(anySamples, anyRateHz, fc.constantFrom(1, 2), (all, rateHz, channels) => {
        const samples = evenly(all, channels);
        const data = Buffer.from(samples.buffer);
        const header = wavHeader({ rateHz, channels, dataBytes: data.length });
        const read = new wavefile.WaveFile(Buffer.concat([header, data]));
        expect(read.fmt).toMatchObject({ audioFormat: 1, numChannels: channels });
        expect(read.fmt).toMatchObject({ sampleRate: rateHz, bitsPerSample: 16 });
        expect(interleaved(read)).toEqual([...samples]);
      }),
    );
  });

  it.each([
    ['8', 512],
    ['16', 0],
    ['24', 1],
    ['32', 1],
    ['32f', 1],
    ['64', 1],
  ])('writes PCM of %s bits that readWav reads within %d', (bitDepth, most) => {
    fc.assert(
      fc.property(anySamples, anyRateHz, (all, rateHz) => {
        const samples = evenly(all, 1);
        const file = new wavefile.WaveFile();
        file.fromScratch(1, rateHz, '16', samples);
        if (bitDepth !== '16') file.toBitDepth(bitDepth);
        const read = readWav(file.toBuffer());
        expect([read.rateHz, read.samples.length]).toEqual([rateHz, samples.length]);
        for (const [nth, sample] of samples.entries()) {
          expect(Math.abs((read.samples[nth] ?? 0) - sample)).toBeLessThanOrEqual(most);
        }
      }),
    );
  });

  it.each(['8a', '8m'])('writes G.711 (%s) that readWav reads as it does itself', (law) => {
    fc.assert(
      fc.property(anySamples, (all) => {
        const file = new wavefile.WaveFile();
        file.fromScratch(1, 8_000, '16', evenly(all, 1));
        if (law === '8a') file.toALaw();
        else file.toMuLaw();
        const { samples } = readWav(file.toBuffer());
        if (law === '8a') file.fromALaw();
        else file.fromMuLaw();
        expect([...samples]).toEqual(interleaved(file));
      }),
    );
  });
});
