// A Wyoming server for recognition and speech with PocketSphinx and Flite behind it, as a process of its own.
// Argument: its grammar. Source: the description of the protocol in OHF-Voice/wyoming.

import { type AddressInfo, createServer, type Socket } from 'node:net';
import {
  announce,
  bytesOf,
  type Listening,
  openEars,
  openMouth,
  samplesOf,
  settingsOf,
  shrunk,
  stretched,
} from './engines.ts';

const SPEECH = { rate: 16_000, width: 2, channels: 1 };
const CHUNK_BYTES = 2_048;

const grammar = settingsOf(process.argv[2]);
const [ears, speak] = await Promise.all([openEars(), openMouth()]);
const server = createServer(serve);
server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));

interface Happening {
  type: string;
  data: { text?: string; rate?: number };
  payload: Buffer;
}

function serve(socket: Socket): void {
  let listening: Listening | undefined;
  let rate = 16_000;
  let last = Promise.resolve();
  let bytes: Buffer = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('close', () => listening?.close());
  socket.on('data', (more: Buffer) => {
    bytes = Buffer.concat([bytes, more]);
    for (let cut = cutOff(bytes); cut !== undefined; cut = cutOff(bytes)) {
      const { happening, rest } = cut;
      bytes = rest;
      // A synthesis that is late ends its connection, as a service's does, and no other one.
      last = last.then(() => happened(happening)).catch(() => void socket.destroy());
    }
  });

  async function happened({ type, data, payload }: Happening): Promise<void> {
    if (type === 'describe') {
      write(socket, 'info', { asr: [{ name: 'pocketsphinx' }], tts: [{ name: 'flite' }] });
    } else if (type === 'audio-start') {
      rate = data.rate ?? rate;
      listening = ears.listen(grammar);
    } else if (type === 'audio-chunk') {
      listening?.push(shrunk(samplesOf(payload), rate / 8_000));
    } else if (type === 'audio-stop') {
      write(socket, 'transcript', { text: (await listening?.finish()) ?? '' });
      socket.end();
    } else if (type === 'synthesize') {
      await say(data.text ?? '');
    }
  }

  async function say(text: string): Promise<void> {
    const sound = bytesOf(stretched(await speak(text), 2));
    write(socket, 'audio-start', SPEECH);
    for (let at = 0; at < sound.length; at += CHUNK_BYTES) {
      write(socket, 'audio-chunk', SPEECH, sound.subarray(at, at + CHUNK_BYTES));
    }
    write(socket, 'audio-stop', {});
  }
}

/** The first event of `bytes`, if all of it is there. */
function cutOff(bytes: Buffer): { happening: Happening; rest: Buffer } | undefined {
  const lineEnd = bytes.indexOf(10) + 1;
  if (lineEnd === 0) return undefined;
  const head = JSON.parse(bytes.subarray(0, lineEnd).toString());
  const payloadAt = lineEnd + (head.data_length ?? 0);
  const end = payloadAt + (head.payload_length ?? 0);
  if (bytes.length < end) return undefined;
  const more = payloadAt > lineEnd ? JSON.parse(bytes.subarray(lineEnd, payloadAt).toString()) : {};
  const data = { ...head.data, ...more };
  const payload = bytes.subarray(payloadAt, end);
  return { happening: { type: head.type, data, payload }, rest: bytes.subarray(end) };
}

function write(
  socket: Socket,
  type: string,
  data: object,
  payload: Buffer = Buffer.alloc(0),
): void {
  const line = { type, data, payload_length: payload.length };
  socket.write(`${JSON.stringify(line)}\n`);
  socket.write(payload);
}
