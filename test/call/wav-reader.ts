// Reads a recording as anybody would: the header as RIFF describes it, the samples as PCM16.

export interface ReadWav {
  rateHz: number;
  channels: number;
  seconds: number;
  /** Whether a channel sounds around a moment. */
  loud(channel: 'left' | 'right', atMs: number): boolean;
}

export function readWav(file: Buffer): ReadWav {
  if (file.toString('latin1', 0, 4) !== 'RIFF') throw new Error('no RIFF file');
  const channels = file.readUInt16LE(22);
  const rateHz = file.readUInt32LE(24);
  const dataBytes = file.readUInt32LE(40);
  const data = file.subarray(44, 44 + dataBytes);
  const moment = channels * 2;
  return {
    rateHz,
    channels,
    seconds: data.length / moment / rateHz,
    loud(channel, atMs) {
      const from = Math.round((atMs * rateHz) / 1_000);
      let sum = 0;
      for (let at = from; at < from + 160; at++) {
        sum += Math.abs(data.readInt16LE(at * moment + (channel === 'left' ? 0 : 2)));
      }
      return sum / 160 > 500;
    },
  };
}
