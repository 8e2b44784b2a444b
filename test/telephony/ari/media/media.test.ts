import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import {
  digitWords,
  startWords,
  unplayedWords,
} from '../../../../src/telephony/ari/media/control-messages.ts';
import {
  createAriMedia,
  PACKET_TRAITS,
  SOCKET_TRAITS,
} from '../../../../src/telephony/ari/media/media.ts';
import type { MediaListener } from '../../../../src/telephony/provider/media-protocol.ts';

const CALL = '1795200436.103';
const MEDIA = 'pb01234567m00000000000000000000000000000000000';

type Heard = [string, ...unknown[]];

function scribe(): { listener: MediaListener; heard: Heard[] } {
  const heard: Heard[] = [];
  return {
    heard,
    listener: {
      onStart: (facts) => heard.push(['start', facts]),
      onAudio: (payload, timestampMs) => heard.push(['audio', [...payload], timestampMs]),
      onDigit: (digit) => heard.push(['digit', digit]),
      onMark: (name) => heard.push(['mark', name]),
      onUnplayed: (ms) => heard.push(['unplayed', ms]),
      onCleared: () => heard.push(['cleared']),
      onStop: () => heard.push(['stop']),
    },
  };
}

/** What one message means, or the code of its error. */
function meaning(message: string): Heard[] | string | undefined {
  const { listener, heard } = scribe();
  try {
    createAriMedia({ callId: CALL, traits: SOCKET_TRAITS }).decodeText(message, listener);
  } catch (error) {
    return codeOf(error);
  }
  return heard;
}

const start = (codec: string) => [
  ['start', { callId: CALL, streamId: MEDIA, codecIn: codec, codecOut: codec, parameters: {} }],
];

describe("Asterisk's media protocol", () => {
  it('begins with the format of the channel, in JSON and in plain text', () => {
    const formats = { ulaw: 'PCMU', alaw: 'PCMA', slin: 'L16', slin16: 'L16/16000', g722: 'G722' };
    for (const [format, codec] of Object.entries(formats)) {
      const json = { event: 'MEDIA_START', channel_id: MEDIA, format, optimal_frame_size: 160 };
      expect(meaning(JSON.stringify(json))).toEqual(start(codec));
      const plain = `MEDIA_START connection_id:media_gw channel:WebSocket/media_gw/0x7f channel_id:${MEDIA} format:${format} optimal_frame_size:160 ptime:20`;
      expect(meaning(plain)).toEqual(start(codec));
      expect(meaning(startWords({ channelId: MEDIA, format }))).toEqual(start(codec));
    }
  });

  it('refuses a format that it does not speak', () => {
    expect(meaning(startWords({ channelId: MEDIA, format: 'opus' }))).toBe('MEDIA_CODEC');
  });

  it('says which mark was played, in both forms', () => {
    const json = { event: 'MEDIA_MARK_PROCESSED', channel_id: MEDIA, correlation_id: '1:2:3' };
    expect(meaning(JSON.stringify(json))).toEqual([['mark', '1:2:3']]);
    expect(meaning('MEDIA_MARK_PROCESSED 1:2:3')).toEqual([['mark', '1:2:3']]);
  });

  it('takes a key once: that of the event socket, not that of the media', () => {
    expect(meaning(digitWords('5'))).toEqual([['digit', '5']]);
    expect(meaning(JSON.stringify({ event: 'DTMF_END', channel_id: MEDIA, digit: '5' }))).toEqual(
      [],
    );
    expect(meaning(`DTMF_END digit:5 channel_id:${MEDIA}`)).toEqual([]);
  });

  it('passes over what else is said, known or not', () => {
    for (const message of [
      'MEDIA_XOFF',
      'MEDIA_XON',
      'QUEUE_DRAINED',
      'MEDIA_BUFFERING_COMPLETED utt-1',
      `STATUS channel_id:${MEDIA} queue_length:0 xon_level:800 xoff_level:900 queue_full:false`,
      JSON.stringify({ event: 'ERROR', channel_id: MEDIA, error_text: 'Unable to parse' }),
      JSON.stringify({ event: 'SOMETHING_NEW', value: [1] }),
    ]) {
      expect(meaning(message)).toEqual([]);
    }
  });

  it('tells what is not played yet, as the leg has reckoned it', () => {
    expect(meaning(unplayedWords(260))).toEqual([['unplayed', 260]]);
    for (const ms of [-1, 1e12, 'x', null]) {
      expect(meaning(JSON.stringify({ event: 'UNPLAYED', unplayed_ms: ms }))).toEqual([
        ['unplayed', 0],
      ]);
    }
  });

  it('counts garbage as what it is', () => {
    for (const message of ['', 'hello', '{', '[]', '{"event":5}', 'null']) {
      expect(meaning(message)).toBe('MEDIA_MALFORMED');
    }
  });

  it('never throws anything else, whatever comes', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.string().map((each) => `MEDIA_START ${each}`),
    );
    fc.assert(
      fc.property(texts, (message) => {
        const result = meaning(message);
        if (typeof result === 'string') expect(result).toMatch(/^MEDIA_(MALFORMED|CODEC)$/);
      }),
    );
  });

  it('has audio in whole messages without a time', () => {
    const { listener, heard } = scribe();
    const media = createAriMedia({ callId: CALL, traits: SOCKET_TRAITS });
    media.decodeBinary(Uint8Array.of(1, 2, 3), listener);
    media.decodeBinary(new Uint8Array(0), listener);
    expect(heard).toEqual([['audio', [1, 2, 3], Number.NaN]]);
    const frame = new Uint8Array(160);
    expect(media.encodeAudio(frame)).toBe(frame);
  });

  it('commands in JSON of at most 128 bytes: Asterisk passes over what is longer', () => {
    const media = createAriMedia({ callId: CALL, traits: SOCKET_TRAITS });
    expect(media.encodeMark('12:3:4')).toBe('{"command":"MARK_MEDIA","correlation_id":"12:3:4"}');
    expect(media.encodeMark('x'.repeat(200))).toBeUndefined();
    expect(media.encodeClear()).toBe('{"command":"FLUSH_MEDIA"}');
  });

  it('has neither marks nor clears where packets pass straight through, and a short lead', () => {
    const media = createAriMedia({ callId: CALL, traits: PACKET_TRAITS });
    expect(media.encodeMark('1')).toBeUndefined();
    expect(media.encodeClear()).toBeUndefined();
    expect(media.traits.leadMs.max).toBeLessThanOrEqual(60);
  });
});
