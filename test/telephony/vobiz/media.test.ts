// What is Vobiz's alone. The messages that it shares with Plivo: test/telephony/plivo/media.test.ts.

import { describe, expect, it } from 'vitest';
import type { MediaListener } from '../../../src/telephony/provider/media-session.ts';
import { vobizProvider } from '../../../src/telephony/vobiz/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const { createMedia } = vobizProvider.create({ clock: new FakeClock() });
const startOf = (encoding: string) =>
  JSON.stringify({
    event: 'start',
    start: { callId: 'c', streamId: 's', mediaFormat: { encoding, sampleRate: 8_000 } },
  });
const audio = JSON.stringify({
  event: 'media',
  streamId: 's',
  media: {
    track: 'inbound',
    timestamp: '20',
    payload: Buffer.from([1, 2, 3, 4]).toString('base64'),
  },
});

function decoded(media: ReturnType<typeof createMedia>, messages: string[]): unknown[] {
  const seen: unknown[] = [];
  const listener: MediaListener = {
    onAudio: (payload) => seen.push([...payload]),
    onEvent: ({ type }) => seen.push(type),
  };
  for (const message of messages) media.decodeText(message, listener);
  return seen;
}

describe('an audio stream of Vobiz', () => {
  it('may begin with audio before its start, which is no fault (trap 17)', () => {
    const messages = [audio, startOf('audio/x-mulaw'), audio];
    expect(decoded(createMedia(), messages)).toEqual(['started', [1, 2, 3, 4]]);
  });

  it('has linear audio in another byte order in each direction (trap 18)', () => {
    const media = createMedia();
    expect(decoded(media, [startOf('audio/x-l16'), audio])).toEqual(['started', [2, 1, 4, 3]]);
    const sent: unknown = JSON.parse(String(media.encodeAudio(Uint8Array.of(2, 1, 4, 3))));
    const payload = Buffer.from([2, 1, 4, 3]).toString('base64');
    expect(sent).toMatchObject({ media: { contentType: 'audio/x-l16', payload } });
  });

  it('returns checkpoints and clears without naming the stream (trap 2)', () => {
    const messages = ['{"event":"playedStream","name":"1"}', '{"event":"clearedAudio"}'];
    expect(decoded(createMedia(), [startOf('audio/x-mulaw'), ...messages])).toEqual([
      'started',
      'mark',
    ]);
  });
});
