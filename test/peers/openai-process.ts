// A server with OpenAI's audio interface and PocketSphinx and Flite behind it, as a process of its own. Argument: its
// grammar. Source: OpenAI's API reference, `audio/transcriptions` and `audio/speech`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  announce,
  bytesOf,
  openEars,
  openMouth,
  samplesOf,
  settingsOf,
  stretched,
} from './engines.ts';

/** Telephone audio as it is uploaded: a WAV header without other chunks, then samples at 8 kHz. */
const WAV_HEADER_BYTES = 44;
const CHUNK_BYTES = 4_801;

const grammar = settingsOf(process.argv[2]);
const [ears, speak] = await Promise.all([openEars(), openMouth()]);
const server = createServer((request, response) => {
  // A synthesis that is late fails its request, as a service's does, and no other one.
  serve(request, response).catch((error: unknown) => {
    if (!response.headersSent) response.writeHead(500);
    response.end(JSON.stringify({ error: { message: String(error) } }));
  });
});
server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  if (request.url === '/v1/audio/transcriptions') await transcribe(body, response);
  else if (request.url === '/v1/audio/speech') await speech(body, response);
  else response.end('{"data":[]}');
}

async function transcribe(body: Buffer, response: ServerResponse): Promise<void> {
  const from = body.indexOf('RIFF');
  const isTelephone = from !== -1 && body.readUInt32LE(from + 24) === 8_000;
  if (!isTelephone || !body.includes('name="model"')) {
    response.writeHead(400).end('{"error":{"message":"a WAV file at 8 kHz and a model"}}');
    return;
  }
  const bytes = body.readUInt32LE(from + 40);
  const wav = body.subarray(from + WAV_HEADER_BYTES, from + WAV_HEADER_BYTES + bytes);
  const listening = ears.listen(grammar);
  listening.push(samplesOf(wav));
  const text = await listening.finish();
  listening.close();
  response.end(JSON.stringify({ text }));
}

async function speech(body: Buffer, response: ServerResponse): Promise<void> {
  const { input, response_format: format } = JSON.parse(body.toString());
  if (format !== 'pcm') {
    response.writeHead(400).end('{"error":{"message":"only pcm"}}');
    return;
  }
  const sound = bytesOf(stretched(await speak(input), 3));
  for (let at = 0; at < sound.length; at += CHUNK_BYTES) {
    response.write(sound.subarray(at, at + CHUNK_BYTES));
  }
  response.end();
}
