// Plays the agent's audio over a WebRTC peer connection of the page with itself: every browser's echo canceller has what is
// received that way as its reference.

const CONNECT_MS_MAX = 3_000;

/** A connection of the page with itself, and the element that plays what comes over it. */
export class LoopbackOutput {
  readonly #near = new RTCPeerConnection();
  readonly #far = new RTCPeerConnection();
  readonly #element = new Audio();

  /** Plays the stream. Rejects if there is no connection in time. */
  async play(stream: MediaStream): Promise<void> {
    const near = this.#near;
    const far = this.#far;
    near.onicecandidate = ({ candidate }) => void far.addIceCandidate(candidate ?? undefined);
    far.onicecandidate = ({ candidate }) => void near.addIceCandidate(candidate ?? undefined);
    const arrived = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no loopback in time')), CONNECT_MS_MAX);
      far.ontrack = ({ track }) => {
        clearTimeout(timer);
        this.#element.srcObject = new MediaStream([track]);
        resolve();
      };
    });
    for (const track of stream.getAudioTracks()) near.addTrack(track, stream);
    await near.setLocalDescription();
    await far.setRemoteDescription(near.localDescription as RTCSessionDescription);
    await far.setLocalDescription();
    await near.setRemoteDescription(far.localDescription as RTCSessionDescription);
    await arrived;
    await this.#element.play();
  }

  close(): void {
    this.#element.pause();
    this.#element.srcObject = null;
    this.#near.close();
    this.#far.close();
  }
}
