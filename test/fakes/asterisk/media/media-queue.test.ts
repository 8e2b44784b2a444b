// The queue of chan_websocket as measured (asterisk §0 and §2.5). Values are those of the real one.

import { describe, expect, it } from 'vitest';
import { type MediaNotice, MediaQueue } from './media-queue.ts';

function ulaw(): { queue: MediaQueue; notices: MediaNotice[]; beats: (count: number) => number[] } {
  const notices: MediaNotice[] = [];
  const queue = new MediaQueue({ frameBytes: 160, notify: (notice) => notices.push(notice) });
  const beats = (count: number): number[] =>
    Array.from({ length: count }, () => queue.beat()?.length ?? 0);
  return { queue, notices, beats };
}

describe('the queue of chan_websocket', () => {
  it.each([
    [100, 0],
    [160, 1],
    [250, 1],
    [490, 3],
  ])('makes of a message of %i bytes %i whole frames, and loses the rest', (bytes, frames) => {
    const { queue } = ulaw();
    queue.push(new Uint8Array(bytes));
    expect(queue.status.queue_length).toBe(frames);
    expect(queue.droppedBytes).toBe(bytes - frames * 160);
  });

  it('re-cuts bulk media across messages, and queues the remainder as a short frame', () => {
    const { queue, notices, beats } = ulaw();
    queue.startBulk();
    for (let nth = 0; nth < 20; nth++) queue.push(new Uint8Array(250));
    queue.stopBulk('utt-1');
    expect(queue.status).toMatchObject({ queue_length: 32, bulk_media: false });
    expect(beats(32)).toEqual([...Array.from({ length: 31 }, () => 160), 40]);
    expect(notices).toEqual([]);
    beats(1);
    expect(notices).toEqual([{ event: 'MEDIA_BUFFERING_COMPLETED', correlation_id: 'utt-1' }]);
  });

  it('reports a mark on the beat after the frame before it', () => {
    const { queue, notices, beats } = ulaw();
    queue.push(new Uint8Array(10 * 160));
    queue.mark('m1');
    queue.mark('');
    beats(10);
    expect(notices).toEqual([]);
    beats(1);
    expect(notices.map((notice) => 'correlation_id' in notice && notice.correlation_id)).toEqual([
      'm1',
      '',
    ]);
  });

  it('gives a frame in the beat of a mark', () => {
    const { queue, notices, beats } = ulaw();
    queue.mark('m1');
    queue.push(new Uint8Array(160));
    expect(beats(1)).toEqual([160]);
    expect(notices).toHaveLength(1);
  });

  it('says stop at 900 frames, once, and go on below 800', () => {
    const { queue, notices, beats } = ulaw();
    for (let nth = 0; nth < 950; nth++) queue.push(new Uint8Array(160));
    expect(notices).toEqual([{ event: 'MEDIA_XOFF' }]);
    beats(150);
    expect(notices).toHaveLength(1);
    beats(1);
    expect(notices).toHaveLength(1);
    beats(1);
    expect(notices.at(-1)).toEqual({ event: 'MEDIA_XON' });
  });

  it('drops a message without a report once 1000 frames wait, and checks only when a message arrives', () => {
    const { queue, notices } = ulaw();
    for (let nth = 0; nth < 4; nth++) queue.push(new Uint8Array(60_000));
    expect(queue.status.queue_length).toBe(1_125);
    expect(queue.droppedMessages).toBe(1);
    expect(notices).toEqual([{ event: 'MEDIA_XOFF' }]);
  });

  it('drops marks and completions with a flush, but not the report that it has run empty', () => {
    const { queue, notices, beats } = ulaw();
    queue.push(new Uint8Array(5 * 160));
    queue.mark('m1');
    queue.reportDrained();
    queue.startBulk();
    queue.flush();
    expect(queue.status).toMatchObject({ queue_length: 0, bulk_media: false });
    beats(2);
    expect(notices).toEqual([{ event: 'QUEUE_DRAINED' }]);
  });

  it('holds everything while it is paused, and loses nothing', () => {
    const { queue, beats } = ulaw();
    queue.push(new Uint8Array(3 * 160));
    queue.pause(true);
    expect(beats(5)).toEqual([0, 0, 0, 0, 0]);
    queue.pause(false);
    expect(beats(4)).toEqual([160, 160, 160, 0]);
  });
});
