// One channel of a stored stereo recording, or both mixed, as a WAV file that is derived while reading. 44-byte header
// and 16-bit PCM, as pipeline/recorder writes it.

import { Readable, Transform } from 'node:stream';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { FileStore } from './file-store.ts';

/** The caller is the left channel, the agent the right. */
export type RecordingTrack = 'caller' | 'agent' | 'mix';

const HEADER_BYTES = 44;
/** Bytes of one sample pair: two channels stored, one sent. */
const STEREO_BYTES = 4;
const MONO_BYTES = 2;
/** Sample rate of the recordings that pipeline/recorder writes. */
const RATE_HZ = 8_000;
const CHANNELS_OFFSET = 22;
const RATE_OFFSET = 24;
const BITS_OFFSET = 34;

/** Size of a track of a stored recording of `storedBytes`. */
export function trackBytes(storedBytes: number): number {
  return HEADER_BYTES + momentsIn(storedBytes) * MONO_BYTES;
}

/** Length in seconds of a stored recording of `storedBytes`. */
export function recordedSeconds(storedBytes: number): number {
  return momentsIn(storedBytes) / RATE_HZ;
}

/** Bytes `start` to `end` (both inclusive, within `trackBytes`) of a track. Throws FILE_NOT_FOUND,
 *  WAV_UNREADABLE. */
export async function openTrack(
  files: FileStore,
  wanted: { key: string; track: RecordingTrack; start: number; end: number },
): Promise<Readable> {
  const { key, track, start, end } = wanted;
  const stored = await files.stat(key);
  if (stored === undefined) throw new GatewayError('FILE_NOT_FOUND');
  const header = await monoHeader(files, key, momentsIn(stored.size) * MONO_BYTES);
  const head = header.subarray(start, Math.min(end + 1, HEADER_BYTES));
  if (end < HEADER_BYTES) return Readable.from([head]);
  const from = Math.max(start, HEADER_BYTES) - HEADER_BYTES;
  const to = end - HEADER_BYTES;
  const source = await files.read(key, {
    start: HEADER_BYTES + Math.floor(from / MONO_BYTES) * STEREO_BYTES,
    end: HEADER_BYTES + Math.floor(to / MONO_BYTES) * STEREO_BYTES + STEREO_BYTES - 1,
  });
  const drawn = new TrackStream({
    track,
    head,
    skip: from % MONO_BYTES,
    bytes: to - from + 1,
  });
  source.once('error', (error) => drawn.destroy(error));
  drawn.once('close', () => {
    if (source instanceof Readable) source.destroy();
  });
  return source.pipe(drawn);
}

function momentsIn(storedBytes: number): number {
  return Math.max(0, Math.floor((storedBytes - HEADER_BYTES) / STEREO_BYTES));
}

/** The stored header, changed to one channel and `dataBytes`. */
async function monoHeader(files: FileStore, key: string, dataBytes: number): Promise<Buffer> {
  const header = await readStart(files, key);
  const isOurs =
    header.length === HEADER_BYTES &&
    header.toString('latin1', 0, 4) === 'RIFF' &&
    header.toString('latin1', 36, 40) === 'data' &&
    header.readUInt16LE(CHANNELS_OFFSET) === 2 &&
    header.readUInt16LE(BITS_OFFSET) === 16;
  if (!isOurs) throw new GatewayError('WAV_UNREADABLE', { reason: 'it is not a stereo recording' });
  const rateHz = header.readUInt32LE(RATE_OFFSET);
  header.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  header.writeUInt16LE(1, CHANNELS_OFFSET);
  header.writeUInt32LE(rateHz * MONO_BYTES, RATE_OFFSET + 4);
  header.writeUInt16LE(MONO_BYTES, RATE_OFFSET + 8);
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

async function readStart(files: FileStore, key: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const source = await files.read(key, { start: 0, end: HEADER_BYTES - 1 });
  for await (const piece of source) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Stereo bytes in, one channel out. Pieces may have any length. */
class TrackStream extends Transform {
  readonly #track: RecordingTrack;
  /** Bytes of the first sample pair before the requested range. */
  #skip: number;
  #bytesLeft: number;
  #rest = Buffer.alloc(0);

  constructor(options: { track: RecordingTrack; head: Buffer; skip: number; bytes: number }) {
    super();
    this.#track = options.track;
    this.#skip = options.skip;
    this.#bytesLeft = options.bytes;
    if (options.head.length > 0) this.push(options.head);
  }

  override _transform(piece: Buffer, _encoding: string, done: () => void): void {
    const stereo = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const moments = Math.floor(stereo.length / STEREO_BYTES);
    this.#rest = Buffer.from(stereo.subarray(moments * STEREO_BYTES));
    const mono = Buffer.allocUnsafe(moments * MONO_BYTES);
    for (let i = 0; i < moments; i++) {
      mono.writeInt16LE(sampleOf(this.#track, stereo, i * STEREO_BYTES), i * MONO_BYTES);
    }
    const sent = mono.subarray(this.#skip, this.#skip + this.#bytesLeft);
    this.#skip = Math.max(0, this.#skip - mono.length);
    this.#bytesLeft -= sent.length;
    if (sent.length > 0) this.push(sent);
    done();
  }
}

/** The sum with saturation: speech seldom overlaps. */
function sampleOf(track: RecordingTrack, stereo: Buffer, offset: number): number {
  const caller = stereo.readInt16LE(offset);
  if (track === 'caller') return caller;
  const agent = stereo.readInt16LE(offset + MONO_BYTES);
  if (track === 'agent') return agent;
  return Math.max(-32_768, Math.min(32_767, caller + agent));
}
