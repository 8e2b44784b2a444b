// Every parser of a hosted provider's messages, many thousands of them each: any text gives a value or the error code
// of its kind, and reading from bytes gives what JSON gives.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../src/errors/gateway-error.ts';
import { systemClock } from '../../src/std/clock.ts';
import type { MediaProtocol } from '../../src/telephony/provider/media-protocol.ts';
import type { MediaListener } from '../../src/telephony/provider/media-session.ts';
import type { ProviderRequest } from '../../src/telephony/provider/provider.ts';
import type { HostedRow } from '../fakes/hosted/hosted-fake.ts';
import { hostedRows } from '../fakes/hosted/hosted-rows.ts';
import { HEADER_BYTES } from '../load/caller/media-client.ts';
import { protocolOf, streamOf } from '../load/gateway-end.ts';
import { type CallStream, HOSTED, type HostedName } from '../load/wires/wire.ts';
import { wires } from '../load/wires/wires.ts';
import { rounds } from '../rounds.ts';
import { mutated, Sequence } from './mutations.ts';
import { bare, formPost } from './provider/provider-request.ts';

const INPUTS = rounds(10_000);
/** Smallest share of all inputs that is read, and that is refused: other inputs would show little. */
const SHARE_MIN = 0.02;
const LIMIT_MS = 120_000;
const URL = 'https://gw.example.com/api/v1/telephony/inbound/run';

const { stackTraceLimit } = Error;
// Of a million errors nobody reads the stack; taking it is a sixth of the time.
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

class Outcomes {
  read = 0;
  refused = 0;
  readonly codes = new Set<string>();

  /** Runs `work`; the code of its error, or undefined. */
  of(work: () => void): string | undefined {
    try {
      work();
      this.read += 1;
      return undefined;
    } catch (error) {
      const code = codeOf(error) ?? String(error);
      this.refused += 1;
      this.codes.add(code);
      return code;
    }
  }

  expectBoth(codes: readonly string[]): void {
    expect([...this.codes].filter((code) => !codes.includes(code))).toEqual([]);
    expect(this.read).toBeGreaterThan(INPUTS * SHARE_MIN);
    expect(this.refused).toBeGreaterThan(INPUTS * SHARE_MIN);
  }
}

class Scribe implements MediaListener {
  last = '';

  onAudio(payload: Uint8Array, timestampMs: number): void {
    this.last += `audio ${timestampMs} ${Buffer.from(payload).toString('latin1')}`;
  }

  onEvent(event: unknown): void {
    this.last += JSON.stringify(event);
  }
}

/** The messages of a stream, in all their kinds. */
function messagesOf(provider: HostedName, stream: CallStream): string[] {
  const texts = [...stream.opening(), stream.key('5'), stream.played('1:2')];
  for (const each of [stream.cleared(), stream.stop()]) if (each !== undefined) texts.push(each);
  if (provider === 'vonage') return texts;
  const payload = wires[provider].payloadOf(Uint8Array.from({ length: 160 }, (_each, i) => i));
  const audio = Array.from({ length: 4 }, () =>
    stream.audio(payload).toString('latin1', HEADER_BYTES),
  );
  return [...texts, ...audio];
}

/** As the connection gives a message on. */
function decode(media: MediaProtocol, message: string, scribe: Scribe): void {
  const bytes = Buffer.from(message);
  const isAscii = bytes.length === message.length;
  if (isAscii && media.decodeAscii?.(bytes, 0, bytes.length, scribe) === true) return;
  media.decodeText(message, scribe);
}

describe.each(HOSTED)('media messages of %s', (provider) => {
  it(
    'are a value or MEDIA_MALFORMED or MEDIA_CODEC, from bytes as from text',
    () => {
      const stream = streamOf(provider);
      const messages = messagesOf(provider, stream);
      const [fast, plain] = [protocolOf(provider), protocolOf(provider)];
      const [heard, wanted] = [new Scribe(), new Scribe()];
      for (const message of messages) {
        fast.decodeText(message, heard);
        plain.decodeText(message, wanted);
      }
      const sequence = new Sequence();
      const outcomes = new Outcomes();
      const plainOutcomes = new Outcomes();
      for (let nth = 0; nth < INPUTS; nth++) {
        const message = mutated(messages, sequence);
        heard.last = '';
        wanted.last = '';
        const code = outcomes.of(() => decode(fast, message, heard));
        const wantedCode = plainOutcomes.of(() => plain.decodeText(message, wanted));
        if (code !== wantedCode || heard.last !== wanted.last) expect.fail(message);
      }
      outcomes.expectBoth(['MEDIA_MALFORMED', 'MEDIA_CODEC']);
    },
    LIMIT_MS,
  );
});

/** A body as the API gives it on: JSON that is none has no value. */
function posted({ webhooks }: HostedRow, body: string): ProviderRequest {
  if (!webhooks[0]?.startsWith('{')) return formPost(URL, body);
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    json = undefined;
  }
  return { ...bare(URL), method: 'POST', rawBody: Buffer.from(body), json };
}

describe.each(hostedRows)('webhooks of $name', (row) => {
  it(
    'are an event or WEBHOOK_MALFORMED',
    () => {
      const { webhook } = row.create({ clock: systemClock });
      const sequence = new Sequence();
      const outcomes = new Outcomes();
      const kinds = new Set<string>();
      for (let nth = 0; nth < INPUTS; nth++) {
        const request = posted(row, mutated(row.webhooks, sequence));
        webhook.recognises(request);
        webhook.accountOf(request);
        outcomes.of(() => {
          const event = webhook.parse(request);
          kinds.add(event.kind);
          if (!event.dedupeKey.startsWith(`${row.name}:`)) throw new Error(event.dedupeKey);
        });
      }
      outcomes.expectBoth(['WEBHOOK_MALFORMED']);
      expect(kinds.size).toBeGreaterThanOrEqual(2);
    },
    LIMIT_MS,
  );
});
