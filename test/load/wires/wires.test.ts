// Each wire's shortcuts against the gateway's own reading and writing of the provider's protocol.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pcmu } from '../../../src/codec/g711.ts';
import { HEADER_BYTES } from '../caller/media-client.ts';
import { markedClip } from '../caller/prepared-speech.ts';
import { FRAME_BYTES } from '../caller/watermark.ts';
import { gatewayEnd, streamOf } from '../gateway-end.ts';
import { type CallStream, type GatewayListener, HOSTED, type HostedName } from './wire.ts';
import { wires } from './wires.ts';

type Told = ['audio', number[]] | ['mark', string] | ['clear'] | ['fault'];

const inJson = HOSTED.filter((provider) => provider !== 'vonage');

function read(stream: CallStream, messages: readonly (string | Uint8Array)[]): Told[] {
  const told: Told[] = [];
  const listener: GatewayListener = {
    onAudio: (marks, count) => told.push(['audio', [...marks.subarray(0, count)]]),
    onMark: (name) => told.push(['mark', name]),
    onClear: () => told.push(['clear']),
    onFault: () => told.push(['fault']),
  };
  for (const message of messages) {
    // As it lies in a read of the socket: between others.
    const bytes = Buffer.from(message);
    const before = Buffer.from('{"event":"media"');
    const chunk = Buffer.concat([before, bytes, Buffer.from('"payload":"x"')]);
    const [from, to] = [before.length, before.length + bytes.length];
    if (typeof message === 'string') stream.readText(chunk, from, to, listener);
    else stream.readBinary(chunk, from, to, listener);
  }
  return told;
}

/** What the gateway sends for mu-law: at Vonage linear audio. */
function payloadFor(provider: HostedName, mulaw: Uint8Array): Uint8Array {
  if (provider !== 'vonage') return mulaw;
  const samples = new Int16Array(mulaw.length);
  pcmu.decode(mulaw, samples);
  return new Uint8Array(samples.buffer);
}

describe.each(HOSTED)('audio messages of %s', (provider) => {
  it('are whole messages that the gateway understands, through every change of their length', () => {
    const heard: { payload: Buffer; timestampMs: number }[] = [];
    const stream = streamOf(provider);
    const gateway = gatewayEnd(provider, stream, (payload, timestampMs) => {
      heard.push({ payload: Buffer.from(payload), timestampMs });
    });
    const frames = 5_100;
    const wrong: number[] = [];
    for (let frame = 0; frame < frames; frame++) {
      if (frame % 97 === 0) gateway.take(stream.key('5'));
      const mulaw = Buffer.alloc(FRAME_BYTES, frame % 251);
      const message = stream.audio(wires[provider].payloadOf(mulaw));
      gateway.takeFrame(message);
      const [audio] = heard.splice(0);
      const timestampMs = provider === 'vonage' ? Number.NaN : frame * 20;
      const isRight =
        message.length - HEADER_BYTES === message.readUInt16BE(2) &&
        Object.is(audio?.timestampMs, timestampMs) &&
        audio?.payload.equals(payloadFor(provider, mulaw));
      if (isRight !== true) wrong.push(frame);
    }
    expect(wrong).toEqual([]);
  });
});

describe.each(inJson)('numbers of the messages of %s', (provider) => {
  it('rise by one with each message, whatever it is', () => {
    const stream = streamOf(provider);
    const payload = wires[provider].payloadOf(new Uint8Array(FRAME_BYTES));
    const texts = [...stream.opening()];
    for (let i = 0; i < 120; i++) {
      if (i % 7 === 0) texts.push(stream.key('1'));
      if (i % 11 === 0) texts.push(stream.played('u1'));
      texts.push(stream.audio(payload).toString('latin1', HEADER_BYTES));
    }
    const numbers = texts
      .map((text) => JSON.parse(text))
      .filter(({ event }) => event !== 'connected')
      .map((message) => Number(message.sequenceNumber ?? message.sequence_number));
    expect(numbers).toEqual(numbers.map((_each, i) => (numbers[0] ?? Number.NaN) + i));
    const chunks = texts.map((text) => JSON.parse(text)).filter(({ event }) => event === 'media');
    expect(Number(chunks.at(-1)?.media.chunk)).toBe(120);
  });
});

describe.each(HOSTED)('the reader of %s', (provider) => {
  it("reads what the gateway's own encoder writes", () => {
    const stream = streamOf(provider);
    const gateway = gatewayEnd(provider, stream);
    const clip = payloadFor(provider, markedClip(1, 5));
    const bytes = clip.length / 5;
    const frame = (nth: number): Uint8Array => clip.subarray(nth * bytes, (nth + 1) * bytes);
    const silence = payloadFor(provider, new Uint8Array(FRAME_BYTES).fill(0xff));
    const sent = [frame(0), frame(1), frame(4), silence].map((each) => gateway.audio(each));
    const told = read(stream, [...sent, gateway.mark('1:2:3'), gateway.clear()]);
    expect(told).toEqual([
      ...[4_096, 4_097, 4_100, -1].map((mark) => ['audio', [mark]]),
      ['mark', '1:2:3'],
      ['clear'],
    ]);
  });

  it('takes anything else for a fault and goes on', () => {
    const stream = streamOf(provider);
    const clear = gatewayEnd(provider, stream).clear();
    const any = fc.oneof(
      fc.string(),
      fc.json(),
      fc.uint8Array({ maxLength: 400 }),
      fc.constantFrom('{"event":"me', '{"event":"media"}', '{"event":"playAudio"}'),
    );
    fc.assert(
      fc.property(any, (message) => {
        const told = read(stream, [message, clear]);
        expect(told.at(-1)).toEqual(['clear']);
        expect(told.length).toBeLessThanOrEqual(2);
      }),
    );
  });
});

describe.each(inJson)('the reader of the JSON of %s', (provider) => {
  it('reads several frames of one message, in any order of fields and with any blanks', () => {
    const stream = streamOf(provider);
    const message = gatewayEnd(provider, stream).audio(markedClip(0, 2)).toString();
    const turned = Object.fromEntries(Object.entries(JSON.parse(message)).reverse());
    const forms = [message, JSON.stringify(JSON.parse(message), null, 2), JSON.stringify(turned)];
    expect(read(stream, forms)).toEqual(forms.map(() => ['audio', [0, 1]]));
  });
});

describe('a message that the provider would not take', () => {
  it.each<[string, HostedName, (message: string) => string | Uint8Array]>([
    ['of another stream', 'twilio', (text) => text.replace('MZ', 'XZ')],
    ['of another stream', 'cloudonix', (text) => text.replace('MZ', 'XZ')],
    ['of another format', 'plivo', (text) => text.replace('x-mulaw', 'x-l16')],
    ['of another rate', 'vobiz', (text) => text.replace('8000', '16000')],
    ['of less than 20 ms', 'telnyx', (text) => text.replace(/"payload":"[^"]{4}/, '"payload":"')],
    ['that is binary', 'telnyx', (text) => Buffer.from(text)],
  ])('is a fault: audio %s at %s', (_what, provider, spoil) => {
    const stream = streamOf(provider);
    const audio = gatewayEnd(provider, stream).audio(new Uint8Array(FRAME_BYTES)).toString();
    expect(read(stream, [spoil(audio)])).toEqual([['fault']]);
  });

  it.each([318, 322, 640, 960])('is a fault: %i bytes at Vonage', (bytes) => {
    expect(read(streamOf('vonage'), [new Uint8Array(bytes)])).toEqual([['fault']]);
  });
});
