// Deepgram's v1/speak websocket, strict: unknown parameters and fields, long texts and more than 20 flushes a minute are
// refused. Nothing is spoken before a flush. Records everything.
// Written from the vendor's API reference (November 2026).

import { z } from 'zod';
import type { Clock } from '../../../src/std/clock.ts';
import { ScriptedVoice, type VoiceFaults } from '../call/scripted-voice.ts';
import {
  type Refusal,
  type ServiceConnection,
  type SocketService,
  startSocketService,
} from './service-socket.ts';

export interface DeepgramSpeakServer extends SocketService {
  faults: VoiceFaults & { refuse?: Refusal };
  errors: string[];
  /** Close codes of the client. */
  closes: number[];
}

const FLUSHES_MAX = 20;
const QUERY = z.strictObject({
  model: z.string().startsWith('aura-'),
  encoding: z.literal('mulaw'),
  sample_rate: z.literal('8000'),
  container: z.literal('none'),
  speed: z.coerce.number().min(0.7).max(1.5).optional(),
});
const MESSAGE = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('Speak'), text: z.string().min(1).max(2_000) }),
  z.strictObject({ type: z.literal('Flush') }),
  z.strictObject({ type: z.literal('Clear') }),
  z.strictObject({ type: z.literal('Close') }),
]);

export async function startDeepgramSpeak(options: {
  clock: Clock;
  key: string;
  faults?: DeepgramSpeakServer['faults'];
}): Promise<DeepgramSpeakServer> {
  const { clock, key } = options;
  const service = await startSocketService({
    refuse: ({ headers, url }) => {
      if (server.faults.refuse !== undefined) return server.faults.refuse;
      if (headers.authorization !== `Token ${key}`) {
        return refusal(401, 'INVALID_AUTH', 'Invalid credentials.');
      }
      const { pathname, searchParams } = new URL(url ?? '', 'http://fake');
      const query = QUERY.safeParse(Object.fromEntries(searchParams));
      if (pathname === '/v1/speak' && query.success) return undefined;
      return refusal(400, 'INVALID_QUERY_PARAMETER', 'Failed to deserialize query parameters');
    },
    onConnection: (connection) => serve(connection),
  });
  const server: DeepgramSpeakServer = Object.assign(service, {
    faults: options.faults ?? {},
    errors: [],
    closes: [],
  });

  function serve({ socket }: ServiceConnection): void {
    let waiting = '';
    let flushes: number[] = [];
    let sequence = 0;
    const queue: string[] = [];
    let voice: ScriptedVoice | undefined;
    const send = (message: object): void => socket.send(JSON.stringify(message));
    socket.on('close', (code) => server.closes.push(code));
    const refuse = (description: string): void => {
      server.errors.push(description);
      send({ type: 'Error', code: 'DATA-0000', description });
      socket.close(1008, 'DATA-0000');
    };
    const next = (): void => {
      const text = queue.shift();
      if (text === undefined) return;
      const speaking = new ScriptedVoice({
        clock,
        format: 'ulaw8',
        faults: server.faults,
        onPiece: ({ audio }) => socket.send(audio),
        onFailure: (failure) => socket.close(failure === 'quota' ? 1008 : failure, 'gone'),
        onDone() {
          if (voice === speaking) voice = undefined;
          send({ type: 'Flushed', sequence_id: sequence++ });
          next();
        },
      });
      voice = speaking;
      speaking.speak(text);
      speaking.end();
    };
    const flush = (): void => {
      const now = clock.monotonicMs();
      flushes = [...flushes.filter((at) => at > now - 60_000), now];
      if (flushes.length > FLUSHES_MAX) refuse('more than 20 flushes in 60 seconds');
      queue.push(waiting);
      waiting = '';
      if (voice === undefined) next();
    };
    const clear = (): void => {
      waiting = '';
      queue.length = 0;
      voice?.stop();
      voice = undefined;
      if (server.faults.goesOnAfterCancel === true) socket.send(Buffer.alloc(1_600, 0x80));
      send({ type: 'Cleared', sequence_id: sequence++ });
    };
    const act = (type: 'Flush' | 'Clear' | 'Close'): void => {
      if (type === 'Flush') flush();
      else if (type === 'Clear') clear();
      else socket.close(1000);
    };
    send({ type: 'Metadata', request_id: 'r', model_name: 'aura', model_version: '1' });
    socket.on('message', (data: Buffer) => {
      const parsed = MESSAGE.safeParse(JSON.parse(data.toString()));
      if (!parsed.success) refuse('the message could not be parsed');
      else if (parsed.data.type === 'Speak') waiting += parsed.data.text;
      else act(parsed.data.type);
    });
  }
  return server;
}

function refusal(status: number, code: string, message: string): Refusal {
  return { status, body: JSON.stringify({ err_code: code, err_msg: message, request_id: 'r' }) };
}
