// Audio messages read from their bytes mean what JSON makes of them, or are left to it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioMessageReader } from '../../../src/telephony/provider/audio-message-reader.ts';
import { audioOfText } from '../../../src/telephony/provider/message-bytes.ts';
import { rounds } from '../../rounds.ts';

const FUZZ_RUNS = 20_000;

interface Audio {
  audio: Buffer;
  timestampMs: number;
}

/** Forms in which providers write their audio, and some in which they might. */
const forms: readonly ((n: number, payload: string) => string)[] = [
  (n, payload) =>
    `{"event":"media","sequence_number":"${n + 3}","stream_id":"s1","media":{"track":"inbound","chunk":"${n + 1}","timestamp":"${n * 20}","payload":"${payload}"}}`,
  (n, payload) =>
    `{"event":"media","sequence_number":"${n + 3}","media":{"track":"inbound","chunk":"${n + 1}","timestamp":"${n * 20}","payload":"${payload}"},"stream_id":"s1"}`,
  (n, payload) =>
    `{"sequenceNumber":${n + 1},"streamId":"s1","event":"media","media":{"track":"inbound","timestamp":"${1_712_345_678_901 + n * 20}","chunk":${n},"payload":"${payload}"},"extra_headers":"{}"}`,
  (n, payload) =>
    `{ "event": "media",\n "media": { "payload": "${payload}", "chunk": ${n}, "timestamp": ${n * 20} }, "sequenceNumber": ${n} }`,
  (_n, payload) => `{"media":{"payload":"${payload}"},"event":"media"}`,
];

function base64Of(length: number, seed: number): string {
  return Buffer.from(Uint8Array.from({ length }, (_each, i) => i * 37 + seed)).toString('base64');
}

/** What JSON makes of a message; undefined for what is no audio of this stream. */
function meaning(message: string): (Audio & { rest: string }) | undefined {
  try {
    const { media, sequenceNumber: _s, sequence_number: _n, ...more } = JSON.parse(message);
    const { payload, timestamp, chunk: _chunk, ...others } = media;
    const audio = audioOfText(payload);
    if (audio === undefined || audio.length === 0) return undefined;
    const timestampMs = timestamp === undefined ? Number.NaN : Number(timestamp);
    return { audio, timestampMs, rest: JSON.stringify([more, others]) };
  } catch {
    return undefined;
  }
}

function learnt(message: string): AudioMessageReader {
  const reader = new AudioMessageReader();
  const found = meaning(message);
  if (found !== undefined) reader.learn(message, found);
  return reader;
}

/** Reads the message as it lies among others. */
function read(reader: AudioMessageReader, message: string): Audio | undefined {
  const bytes = Buffer.from(`##${message}"}}`, 'latin1');
  if (!reader.read(bytes, 2, 2 + message.length)) return undefined;
  return { audio: Buffer.from(reader.audio), timestampMs: reader.timestampMs };
}

describe('the audio messages of a stream', () => {
  it('are left to JSON until one has been read by it', () => {
    expect(read(new AudioMessageReader(), forms[0]?.(1, base64Of(160, 0)) ?? '')).toBeUndefined();
  });

  it.each(forms.map((form, nth) => [nth, form] as const))(
    'are read whatever their numbers and payloads: form %i',
    (_nth, form) => {
      const reader = learnt(form(7, base64Of(160, 0)));
      for (const n of [0, 9, 10, 4_999, 5_000, 60_000]) {
        for (const bytes of [1, 2, 3, 160, 320, 1_000]) {
          const message = form(n, base64Of(bytes, n));
          expect(read(reader, message)).toEqual(audioIn(message));
        }
      }
    },
  );

  it('mean what JSON makes of them, or are left to it, whatever is changed in them', () => {
    const change = fc.record({
      form: fc.nat(forms.length - 1),
      n: fc.nat(100_000),
      bytes: fc.integer({ min: 1, max: 24 }),
      at: fc.nat(400),
      drop: fc.nat(3),
      add: fc.oneof(
        fc.string({ maxLength: 3 }),
        fc.constantFrom('"', '0', '00', '-', '=', '\\', ',', '{}', 'A', '"x":1,'),
      ),
    });
    const readers = forms.map((form) => learnt(form(3, base64Of(8, 3))));
    const rests = forms.map((form) => meaning(form(3, base64Of(8, 3)))?.rest);
    let taken = 0;
    fc.assert(
      fc.property(change, ({ form, n, bytes, at, drop, add }) => {
        const whole = forms[form]?.(n, base64Of(bytes, n)) ?? '';
        const place = at % whole.length;
        const message = whole.slice(0, place) + add + whole.slice(place + drop);
        const got = read(readers[form] as AudioMessageReader, message);
        if (got === undefined) return;
        taken += 1;
        expect({ ...got, rest: rests[form] }).toEqual(meaning(message));
      }),
      { numRuns: rounds(FUZZ_RUNS) },
    );
    expect(taken).toBeGreaterThan(FUZZ_RUNS / 20);
  });

  it.each([
    ['of another stream', (text: string) => text.replace('"s1"', '"s2"')],
    ['of another track', (text: string) => text.replace('"inbound"', '"outbound"')],
    ['with another field', (text: string) => text.replace('"event"', '"more":1,"event"')],
    ['that is cut', (text: string) => text.slice(0, -1)],
    ['that goes on', (text: string) => `${text} `],
    ['without audio', (text: string) => text.replace(/"payload":"[^"]*"/, '"payload":""')],
    ['with a number of 16 digits', (text: string) => text.replace('"4"', '"4000000000000000"')],
  ])('are left to JSON: one %s', (_what, change) => {
    const form = forms[0] as (n: number, payload: string) => string;
    const reader = learnt(form(1, base64Of(160, 1)));
    expect(read(reader, form(2, base64Of(160, 2)))).toBeDefined();
    expect(read(reader, change(form(1, base64Of(160, 1))))).toBeUndefined();
  });

  it.each([
    ['a field twice', '{"a":{"payload":"AAAA"},"media":{"payload":"AAAA"}}'],
    ['an escape', '{"a":"\\"payload\\":\\"AAAA","media":{"payload":"AAAA"}}'],
    ['a letter that is not ASCII', '{"a":"ü","media":{"payload":"AAAA"}}'],
    ['a timestamp of something else', '{"timestamp":5,"media":{"payload":"AAAA"}}'],
    [
      'more text than audio messages have',
      `{"a":"${'x'.repeat(1_100)}","media":{"payload":"AAAA"}}`,
    ],
  ])('have a form that is not learnt: %s', (_what, message) => {
    expect(read(learnt(message), message)).toBeUndefined();
  });

  it('are learnt a few times only, if each has another form', () => {
    const reader = new AudioMessageReader();
    const message = (n: number): string => `{"a${n}":1,"media":{"payload":"AAAA"}}`;
    const learn = (n: number): void => {
      reader.learn(message(n), meaning(message(n)) as Audio);
    };
    for (let n = 0; n < 8; n++) learn(n);
    expect(read(reader, message(7))).toBeDefined();
    learn(8);
    expect(read(reader, message(8))).toBeUndefined();
  });
});

function audioIn(message: string): Audio | undefined {
  const found = meaning(message);
  return found && { audio: found.audio, timestampMs: found.timestampMs };
}
