// The backlog of a call's audio after a stall of this process: old packets are dropped, which is a gap in the recording,
// and reported as one fault. A backlog of the network is processed in full.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import type { Depacketizer } from './depacketizer.ts';

export class StallBacklog {
  readonly #clock: Clock;
  readonly #decoder: Pick<Depacketizer, 'dropIfOld'>;
  readonly #onFault: (error: GatewayError) => void;
  #droppedMs = 0;

  constructor(
    clock: Clock,
    decoder: Pick<Depacketizer, 'dropIfOld'>,
    onFault: (error: GatewayError) => void,
  ) {
    this.#clock = clock;
    this.#decoder = decoder;
    this.#onFault = onFault;
  }

  /** Whether the packet is dropped. The first one that is not ends the backlog, which is reported as MEDIA_BACKLOG. */
  drops(payload: Uint8Array, timestampMs: number, nowMs: number): boolean {
    if (this.#clock.lastStall() !== undefined) {
      const ms = this.#decoder.dropIfOld(payload, timestampMs, nowMs);
      this.#droppedMs += ms;
      if (ms > 0) return true;
    }
    if (this.#droppedMs === 0) return false;
    const ms = Math.round(this.#droppedMs);
    this.#droppedMs = 0;
    this.#onFault(new GatewayError('MEDIA_BACKLOG', { ms }));
    return false;
  }
}
