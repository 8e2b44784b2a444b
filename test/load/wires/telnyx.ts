// Telnyx: an event in JSON with an Ed25519 signature, answered by a command to its REST interface, and its media streams.
// The command comes to the process that plays that interface (call-rest.ts), where it is waited for.
// Source: developers.telnyx.com (webhooks, call commands, media streaming over websockets)

import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { request } from 'undici';
import { z } from 'zod';
import { hexOf, JSON_BODY, post, refusal, secretOf } from './announcement.ts';
import { base64Of, type JsonMessages, JsonStream, type Sent } from './json-stream.ts';
import type { InboundCall, MediaTarget, Wire } from './wire.ts';

/** The command may come long after the reply. */
const COMMAND_MS_MAX = 30_000;
/** Not stated; the longest message it takes. */
const BUFFER_MS_MAX = 30_000;
/** A message has at least 20 ms. */
const PAYLOAD_BYTES_MIN = 160;

const incoming = z.discriminatedUnion('event', [
  z.object({ event: z.literal('media'), media: z.object({ payload: z.string() }) }),
  z.object({ event: z.literal('mark'), mark: z.object({ name: z.string() }) }),
  z.object({ event: z.literal('clear') }),
]);
const answered = z.object({ streamUrl: z.string() });

export const telnyxWire: Wire = {
  callIdOf: (nth) => `v3:${hexOf(nth)}`,
  payloadOf: base64Of,
  announce,
  stream: ({ callId }) => new JsonStream(messages(callId)),
};

async function announce(call: InboundCall): Promise<MediaTarget> {
  const { webhookUrl, credentials, callId, from, to } = call;
  const body = JSON.stringify({
    data: {
      ['record_type']: 'event',
      ['event_type']: 'call.initiated',
      id: randomUUID(),
      ['occurred_at']: new Date().toISOString(),
      payload: {
        ['call_control_id']: callId,
        ['call_leg_id']: 'leg',
        ['call_session_id']: 'session',
        ['connection_id']: secretOf(credentials, 'connection_id'),
        ['client_state']: null,

        from,
        to,
        direction: 'incoming',
        state: 'parked',
      },
    },
    meta: { attempt: 1, ['delivered_to']: webhookUrl },
  });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = createPrivateKey(secretOf(credentials, 'private_key'));
  const signature = sign(null, Buffer.from(`${timestamp}|${body}`), key).toString('base64');
  const reply = await post(webhookUrl, body, {
    ...JSON_BODY,
    'telnyx-timestamp': timestamp,
    'telnyx-signature-ed25519': signature,
  });
  if (reply.status !== 200) throw refusal(reply);
  const command = await request(
    `${secretOf(credentials, 'commands_url')}/${encodeURIComponent(callId)}`,
    { signal: AbortSignal.timeout(COMMAND_MS_MAX) },
  );
  const text = await command.body.text();
  if (command.statusCode !== 200) throw refusal({ status: command.statusCode, text });
  return { url: answered.parse(JSON.parse(text)).streamUrl, headers: {}, parameters: {} };
}

function messages(callId: string): JsonMessages {
  const streamId = `S${callId.slice(3)}`;
  const numbered = (event: string, sequence: number, parts: object): object => ({
    event,
    ['sequence_number']: String(sequence),
    ['stream_id']: streamId,
    ...parts,
  });
  const start = {
    ['user_id']: '7d2f3c1e',
    ['call_control_id']: callId,
    ['call_session_id']: 'session',
    ['client_state']: null,
    ['custom_parameters']: {},
    ['media_format']: { encoding: 'PCMU', ['sample_rate']: 8_000, channels: 1 },
  };
  return {
    onClear: 'echo-marks',
    bufferMsMax: BUFFER_MS_MAX,
    payloadBytesMin: PAYLOAD_BYTES_MIN,
    audio: {
      text: `{"event":"media","sequence_number":"<sequence>","stream_id":"${streamId}","media":{"track":"inbound","chunk":"<chunk>","timestamp":"<timestamp>","payload":"<payload>"}}`,
      firstMs: 0,
    },
    opening: (next) => [
      { event: 'connected', version: '1.0.0' },
      numbered('start', next(), { start }),
    ],
    sequence: 1,
    audioEvent: 'media',
    key: (digit, sequence) =>
      numbered('dtmf', sequence, { ['occurred_at']: new Date().toISOString(), dtmf: { digit } }),
    played: (name, sequence) => numbered('mark', sequence, { mark: { name } }),
    stop: (sequence) => numbered('stop', sequence, { stop: { ['call_control_id']: callId } }),
    read: (message) => sentOf(incoming.safeParse(message).data),
  };
}

function sentOf(sent: z.infer<typeof incoming> | undefined): Sent | undefined {
  if (sent === undefined || sent.event === 'clear') return sent && { type: 'clear' };
  if (sent.event === 'mark') return { type: 'mark', name: sent.mark.name };
  return { type: 'audio', payload: sent.media.payload };
}
