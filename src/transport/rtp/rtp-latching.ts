// RTP latching: the source address of one call's RTP. The PBX announces an address, but behind NAT its packets have
// another. The announced one is always accepted; another only after it has sent an unbroken stream while the announced
// one was silent. From then on all others are rejected. Pure.

import type { RtpHeader } from './rtp-packet.ts';

/** Consecutive packets of one source and sequence: more than a stray packet, less than a word. */
const PROOF_PACKETS = 5;

export interface RtpAddress {
  /** An IP address; IPv4 addresses never in IPv6 form. */
  host: string;
  port: number;
}

interface Candidate extends RtpAddress {
  ssrc: number;
  sequence: number;
  packets: number;
}

export class RtpLatching {
  readonly #announced: RtpAddress | undefined;
  #locked: RtpAddress | undefined;
  #candidate: Candidate | undefined;

  /** `announced`: undefined if the announced address cannot be used for sending. */
  constructor(announced: RtpAddress | undefined) {
    this.#announced = announced;
  }

  /** Address to send to. Undefined until it is known. */
  get target(): RtpAddress | undefined {
    return this.#locked ?? this.#announced;
  }

  /** Whether a packet belongs to the call. */
  accepts(from: RtpAddress, header: RtpHeader): boolean {
    if (this.#locked !== undefined && isSame(from, this.#locked)) return true;
    if (this.#announced !== undefined && isSame(from, this.#announced)) {
      this.#locked = this.#announced;
      return true;
    }
    return this.#locked === undefined && this.#prove(from, header);
  }

  #prove({ host, port }: RtpAddress, { ssrc, sequence }: RtpHeader): boolean {
    const before = this.#candidate;
    const isNext =
      before !== undefined &&
      isSame(before, { host, port }) &&
      before.ssrc === ssrc &&
      ((before.sequence + 1) & 0xffff) === sequence;
    const packets = isNext ? before.packets + 1 : 1;
    this.#candidate = { host, port, ssrc, sequence, packets };
    if (packets < PROOF_PACKETS) return false;
    this.#locked = { host, port };
    return true;
  }
}

function isSame(a: RtpAddress, b: RtpAddress): boolean {
  return a.port === b.port && a.host === b.host;
}
