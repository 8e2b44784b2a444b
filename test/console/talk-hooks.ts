// Hooks into a page's microphone: it is lost, there is no other, or it picks up what the page plays, as in a room whose echo
// the browser does not cancel.

import type { Page } from 'playwright-core';

declare global {
  interface Window {
    hooks: Hooks;
  }
}

interface Hooks {
  /** How often the microphone was opened. */
  opened: number;
  /** Name of the error with which the next opening is refused. */
  refusal: string | undefined;
  /** Ends its tracks, as when it is unplugged. */
  loseMicrophone(): void;
  /** The permission is another one. */
  changePermission(): void;
  /** Loudest sample, 0 to 1, that an audio element of the page plays. */
  loudestElement(): number;
}

/** To be called before the page is loaded. */
export async function useHooks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const tracks: MediaStreamTrack[] = [];
    let permission: PermissionStatus | undefined;
    const hooks: Hooks = {
      opened: 0,
      refusal: undefined,
      loseMicrophone: () => {
        for (const track of tracks.splice(0)) {
          track.stop();
          track.dispatchEvent(new Event('ended')); // Browsers report no end that the page has made.
        }
      },
      // Chromium's own changes never where it allows the microphone without asking.
      changePermission: () => permission?.dispatchEvent(new Event('change')),
      loudestElement: () => 0,
    };
    window.hooks = hooks;
    const { mediaDevices, permissions } = navigator;
    const query = permissions.query.bind(permissions);
    permissions.query = async (of) => {
      permission = await query(of);
      return permission;
    };
    const open = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (constraints) => {
      if (hooks.refusal !== undefined) throw new DOMException('refused', hooks.refusal);
      const stream = await open(constraints);
      hooks.opened += 1;
      tracks.push(...stream.getTracks());
      return stream;
    };
  });
}

/** To be called before the page is loaded. The microphone hears half of what goes to the loudspeaker directly; whether also
 *  what goes there by a loopback is said by `isCancelledByLoopback`. */
export async function useEcho(
  page: Page,
  { isCancelledByLoopback }: { isCancelledByLoopback: boolean },
): Promise<void> {
  await useHooks(page);
  await page.addInitScript((cancels) => {
    const connect = AudioNode.prototype.connect as (this: AudioNode, to: AudioNode) => AudioNode;
    const disconnect = AudioNode.prototype.disconnect as (this: AudioNode, to?: AudioNode) => void;
    let room: MediaStreamAudioDestinationNode;
    let echo: AudioNode | undefined;
    // In the click, as sound may begin only there.
    navigator.mediaDevices.getUserMedia = async () => {
      room = new AudioContext({ sampleRate: 16_000 }).createMediaStreamDestination();
      return room.stream;
    };
    AudioNode.prototype.connect = function (this: AudioNode, to: AudioNode) {
      if (to instanceof AudioDestinationNode && to.context !== room.context) {
        const out = (this.context as AudioContext).createMediaStreamDestination();
        connect.call(this, out);
        const quieter = new GainNode(room.context, { gain: 0.5 });
        echo = quieter;
        connect.call((room.context as AudioContext).createMediaStreamSource(out.stream), quieter);
        connect.call(quieter, room);
      }
      return connect.call(this, to);
    } as typeof AudioNode.prototype.connect;
    AudioNode.prototype.disconnect = function (this: AudioNode, to?: AudioNode) {
      if (to instanceof AudioDestinationNode && cancels) disconnect.call(echo as AudioNode);
      if (to === undefined) disconnect.call(this);
      else disconnect.call(this, to);
    } as typeof AudioNode.prototype.disconnect;

    const play = HTMLMediaElement.prototype.play;
    let meter: AnalyserNode | undefined;
    HTMLMediaElement.prototype.play = async function (this: HTMLMediaElement) {
      await play.call(this);
      const context = room.context as AudioContext;
      meter = context.createAnalyser();
      connect.call(context.createMediaStreamSource(this.srcObject as MediaStream), meter);
    };
    window.hooks.loudestElement = () => {
      const samples = new Float32Array(2_048);
      meter?.getFloatTimeDomainData(samples);
      return Math.max(...samples.map(Math.abs));
    };
  }, isCancelledByLoopback);
}
