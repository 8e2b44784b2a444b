// A Vosk server with PocketSphinx behind it, as a process of its own. Argument: its grammar.
// Source: the README of vosk-server, and the comparisons of websocket/asr_server.py.

import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { announce, type Listening, openEars, samplesOf, settingsOf } from './engines.ts';

const grammar = settingsOf(process.argv[2]);
const ears = await openEars();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
server.on('connection', serve);
server.on('listening', () => announce((server.address() as AddressInfo).port));

function serve(socket: WebSocket): void {
  let phrases: string[] | undefined;
  let listening: Listening | undefined;
  let last = Promise.resolve();
  socket.on('close', () => listening?.close());
  // One message after the other: each has its reply before the next is looked at.
  socket.on('message', (data: Buffer, isBinary) => {
    last = last.then(() => message(data, isBinary));
  });

  async function message(data: Buffer, isBinary: boolean): Promise<void> {
    const text = isBinary ? '' : data.toString();
    if (text.includes('config')) {
      phrases = JSON.parse(text).config.phrase_list ?? phrases;
      return;
    }
    listening ??= ears.listen(
      phrases === undefined
        ? grammar
        : { phrases: phrases.filter((phrase) => phrase !== '[unk]'), slots: [] },
    );
    if (text === '{"eof" : 1}' || text === '{"reset" : 1}') {
      socket.send(JSON.stringify(resultOf(await listening.finish())));
      if (text === '{"eof" : 1}') socket.close();
      return;
    }
    listening.push(samplesOf(data));
    socket.send(JSON.stringify({ partial: listening.partial() }));
  }
}

function resultOf(text: string): object {
  const words = text.split(' ').filter(Boolean);
  if (words.length === 0) return { text: '' };
  // PocketSphinx is not asked for times: the words are told as of one length.
  const result = words.map((word, i) => ({ conf: 1, start: i * 0.3, end: (i + 1) * 0.3, word }));
  return { result, text };
}
