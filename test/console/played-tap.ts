// What a page plays: each sound that goes to the loudspeaker goes into a media stream as well, whose samples Chromium hands
// over one by one (MediaStreamTrackProcessor). A page that is late loses none of them within some seconds.

import type { Page } from 'playwright-core';

/** Rate of a call's audio in the page, and of recordings. */
const PLAYED_HZ = 16_000;
const RECORDED_HZ = 8_000;
/** Pieces of 10 ms that wait for the page: five seconds. */
const WAITING_MAX = 500;

interface Tapped {
  /** By calls: each has an AudioContext of its own. */
  played: Int16Array[][];
}

interface AudioPiece {
  numberOfFrames: number;
  sampleRate: number;
  copyTo(to: Float32Array, how: { planeIndex: number; format: 'f32-planar' }): void;
  close(): void;
}

/** Of Chromium; the DOM library does not know it. */
type TrackProcessor = new (of: {
  track: MediaStreamTrack;
  maxBufferSize: number;
}) => { readable: ReadableStream<AudioPiece> };

/** To be called before the page is loaded. */
export async function tapPlayed(page: Page): Promise<void> {
  await page.addInitScript(tapLoudspeaker, { rateHz: PLAYED_HZ, waitingMax: WAITING_MAX });
}

/** Runs in the page. */
function tapLoudspeaker({ rateHz, waitingMax }: { rateHz: number; waitingMax: number }): void {
  const own = window as unknown as Tapped & { ['MediaStreamTrackProcessor']: TrackProcessor };
  own.played = [];
  const connect = AudioNode.prototype.connect as (this: AudioNode, to: AudioNode) => AudioNode;
  const keep = async (node: AudioNode, blocks: Int16Array[]): Promise<void> => {
    const output = (node.context as AudioContext).createMediaStreamDestination();
    output.channelCount = 1;
    const [track] = output.stream.getAudioTracks();
    const { readable } = new own.MediaStreamTrackProcessor({
      track: track as MediaStreamTrack,
      maxBufferSize: waitingMax,
    });
    connect.call(node, output);
    const reader = readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      if (value.sampleRate !== rateHz) throw new Error(`played at ${value.sampleRate} Hz`);
      const samples = new Float32Array(value.numberOfFrames);
      value.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
      value.close();
      blocks.push(Int16Array.from(samples, (each) => Math.round(each * 32_767)));
    }
  };
  AudioNode.prototype.connect = function (this: AudioNode, to: AudioNode) {
    if (to instanceof AudioDestinationNode) {
      const blocks: Int16Array[] = [];
      own.played.push(blocks);
      void keep(this, blocks);
    }
    return connect.call(this, to);
  } as typeof AudioNode.prototype.connect;
}

/** What was played in the page's calls, one after the other, at the rate of recordings. */
export async function playedOn(page: Page): Promise<Int16Array[]> {
  const calls = await page.evaluate(() => {
    const { played } = window as unknown as Tapped;
    return played.map((blocks) => {
      let bytes = '';
      for (const block of blocks) bytes += String.fromCharCode(...new Uint8Array(block.buffer));
      return btoa(bytes);
    });
  });
  return calls.map((text) => {
    const bytes = Buffer.from(text, 'base64');
    return halved(new Int16Array(new Uint8Array(bytes).buffer));
  });
}

/** Pairs of samples in one: nothing above the telephone's band is in a call's audio. */
function halved(wide: Int16Array): Int16Array {
  const times = PLAYED_HZ / RECORDED_HZ;
  const narrow = new Int16Array(Math.floor(wide.length / times));
  for (let i = 0; i < narrow.length; i++) {
    narrow[i] = ((wide[i * times] as number) + (wide[i * times + 1] as number)) / times;
  }
  return narrow;
}
