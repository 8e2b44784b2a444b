import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  command,
  parseControlMessage,
} from '../../../../src/telephony/ari/media/control-messages.ts';

describe("Asterisk's control messages", () => {
  it('say the same in plain text and in JSON', () => {
    const plain = parseControlMessage(
      'STATUS channel_id:m-1 queue_length:37 xon_level:800 xoff_level:900 queue_full:false bulk_media:false media_paused:false',
    );
    const json = parseControlMessage(
      JSON.stringify({ event: 'STATUS', channel_id: 'm-1', queue_length: 37, queue_full: false }),
    );
    expect(plain).toMatchObject({ event: 'STATUS', channelId: 'm-1', queueLength: 37 });
    expect(json).toMatchObject({ event: 'STATUS', channelId: 'm-1', queueLength: 37 });
  });

  it('say how large a frame is, if there is a queue of frames', () => {
    const plain = (size: string) =>
      parseControlMessage(`MEDIA_START format:ulaw optimal_frame_size:${size}`);
    expect(plain('160')?.frameBytes).toBe(160);
    const json = { event: 'MEDIA_START', format: 'slin16' };
    expect(
      parseControlMessage(JSON.stringify({ ...json, optimal_frame_size: 640 }))?.frameBytes,
    ).toBe(640);
    // Formats that pass through have none.
    expect(plain('0')?.frameBytes).toBeUndefined();
    expect(
      parseControlMessage(JSON.stringify({ ...json, optimal_frame_size: 0 }))?.frameBytes,
    ).toBeUndefined();
    expect(parseControlMessage(JSON.stringify(json))?.frameBytes).toBeUndefined();
  });

  it('may have no facts, or an error with spaces and a line end', () => {
    expect(parseControlMessage('MEDIA_XOFF')).toMatchObject({
      event: 'MEDIA_XOFF',
      channelId: undefined,
    });
    expect(
      parseControlMessage(
        'ERROR channel_id:m-1 error_text:SET_MEDIA_DIRECTION only supports JSON format.\n',
      ),
    ).toMatchObject({ event: 'ERROR', channelId: 'm-1' });
  });

  it('are no messages of ours if they are neither form', () => {
    for (const text of [
      '',
      'media_start x:1',
      '{',
      '{"event":1}',
      '{"a":1}',
      '[1]',
      ' ',
      '\u0000',
    ]) {
      expect(parseControlMessage(text)).toBeUndefined();
    }
  });

  it('never throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseControlMessage(text)),
    );
  });

  it('go out only if Asterisk reads them: at most 128 bytes', () => {
    expect(command('GET_STATUS')).toBe('{"command":"GET_STATUS"}');
    expect(command('MARK_MEDIA', 'é'.repeat(60))).toBeUndefined();
  });
});
