// Reads a capture of an examination call through the provider's own parsers: what the provider said is parsed again,
// from the redacted text. So a capture of a live account is a fixture.

import { z } from 'zod';
import type { ProviderName } from '../../../src/model/provider.ts';
import { systemClock } from '../../../src/std/clock.ts';
import type { MediaProtocol } from '../../../src/telephony/provider/media-protocol.ts';
import type { MediaEvent, MediaListener } from '../../../src/telephony/provider/media-session.ts';
import type { ProviderEvent, ProviderRequest } from '../../../src/telephony/provider/provider.ts';
import type { HostedRow } from '../../fakes/hosted/hosted-fake.ts';
import { bare, formPost, jsonPost } from '../provider/provider-request.ts';
import { startRestServer } from '../provider/rest-server.ts';

const body = z
  .union([
    z.object({ json: z.unknown() }),
    z.object({ form: z.array(z.tuple([z.string(), z.string()])) }),
    z.object({ text: z.string() }),
  ])
  .nullable();
const request = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.unknown()),
  body,
});
const at = { atMs: z.number() };
const line = z.discriminatedUnion('kind', [
  z.object({
    ...at,
    kind: z.literal('capture'),
    format: z.literal(1),
    provider: z.string(),
    gateway: z.string(),
  }),
  z.object({
    ...at,
    kind: z.literal('rest'),
    action: z.string(),
    tookMs: z.number(),
    request,
    answer: z.object({ status: z.number(), body }).optional(),
    failed: z.string().optional(),
  }),
  z.object({
    ...at,
    kind: z.literal('webhook'),
    isVerified: z.boolean(),
    event: z.string(),
    request,
    reply: z.object({ status: z.number(), contentType: z.string(), body }).optional(),
  }),
  z.object({
    ...at,
    kind: z.literal('upgrade'),
    verdict: z.string(),
    headers: z.record(z.string(), z.unknown()),
  }),
  z.object({
    ...at,
    kind: z.literal('media'),
    from: z.enum(['provider', 'gateway']),
    json: z.unknown().optional(),
    text: z.string().optional(),
    binaryBytes: z.number().optional(),
    closed: z.number().optional(),
    reason: z.string().optional(),
  }),
  z.object({
    ...at,
    kind: z.literal('audio'),
    from: z.enum(['provider', 'gateway']),
    messages: z.number(),
    bytes: z.number(),
  }),
  z.object({
    ...at,
    kind: z.literal('step'),
    key: z.string(),
    verdict: z.string(),
    message: z.string(),
  }),
]);
export type CaptureLine = z.infer<typeof line>;

/** Throws for a line that is none of the format. */
export function linesOf(capture: string): CaptureLine[] {
  return capture
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => line.parse(JSON.parse(text)));
}

export interface Replayed {
  provider: ProviderName;
  /** The event of each webhook, as recorded in the call and as parsed here. */
  webhooks: { recorded: string; event: ProviderEvent }[];
  /** Events of the media socket, without audio. */
  media: MediaEvent[];
  audioFrames: number;
  /** Id of the call in the dial's answer. */
  callId: string;
}

/** With the provider of the row, and its answers in the capture. */
export async function replay(lines: readonly CaptureLine[], row: HostedRow): Promise<Replayed> {
  const provider = row.create({ clock: systemClock });
  const replayed: Replayed = {
    provider: provider.name,
    webhooks: [],
    media: [],
    audioFrames: 0,
    callId: '',
  };
  const protocol = provider.createMedia();
  const listener: MediaListener = {
    onAudio() {
      replayed.audioFrames += 1;
    },
    onEvent: (event) => void replayed.media.push(event),
  };
  for (const each of lines) {
    if (each.kind === 'webhook' && each.isVerified) {
      const event = provider.webhook.parse(providerRequestOf(each.request));
      replayed.webhooks.push({ recorded: each.event, event });
    }
    if (each.kind === 'media' && each.from === 'provider') decode(protocol, each, listener);
  }
  const dial = lines.find((each) => each.kind === 'rest' && each.action === 'dial');
  if (dial?.kind === 'rest' && dial.answer !== undefined) {
    replayed.callId = await dialled(row, dial.answer);
  }
  return replayed;
}

function decode(
  protocol: MediaProtocol,
  { json, binaryBytes }: { json?: unknown; binaryBytes?: number | undefined },
  listener: MediaListener,
): void {
  if (binaryBytes !== undefined) protocol.decodeBinary?.(Buffer.alloc(binaryBytes), listener);
  else if (json !== undefined) protocol.decodeText(withAudio(JSON.stringify(json)), listener);
}

/** What the provider makes of this answer to a dial. */
async function dialled(
  row: HostedRow,
  { status, body: sent }: { status: number; body: z.infer<typeof body> },
): Promise<string> {
  const rest = await startRestServer();
  try {
    rest.answer = { status, body: JSON.parse(textOf(sent)) };
    const { control, formatAddress } = row.create({ clock: systemClock });
    const url = 'https://gateway.invalid/hook';
    const { callId } = await control.dial(
      row.configuration(rest.url),
      {
        runId: '1',
        from: formatAddress('+15550000001'),
        to: formatAddress('+15550000002'),

        answerUrl: url,
        statusUrl: url,
        answeredByUrl: url,
        ringS: 30,
        callS: 60,
      },
      new AbortController().signal,
    );
    return callId;
  } finally {
    await rest.close();
  }
}

/** Silence in the place of audio. */
function withAudio(text: string): string {
  return text.replace(/<audio (\d+) bytes>/g, (_, bytes: string) =>
    Buffer.alloc(Number(bytes), 0xff).toString('base64'),
  );
}

function textOf(given: z.infer<typeof body>): string {
  if (given === null) return '';
  if ('form' in given) return new URLSearchParams(given.form).toString();
  return 'text' in given ? given.text : JSON.stringify(given.json);
}

function providerRequestOf({
  method,
  url,
  headers,
  body: sent,
}: z.infer<typeof request>): ProviderRequest {
  const texts = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  if (sent === null || method === 'GET') return { ...bare(url, texts), method };
  const text = textOf(sent);
  return 'form' in sent ? formPost(url, text, texts) : jsonPost(url, text, texts);
}

/** As a capture names it. */
export function eventNameOf(event: ProviderEvent): string {
  return event.kind === 'status' ? `status ${event.status}` : event.kind;
}
