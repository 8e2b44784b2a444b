// From whom one call's RTP is taken. The PBX announces an address; behind NAT its packets come from another.
// The announced one is taken at once and always, another only after it has sent an unbroken stream while the
// announced one was silent; from then on all others are strangers. Pure.

import type { RtpHeader } from './rtp-packet.ts';

/** Packets in a row, of one source and one count: more than a stray packet, less than a word. */
const PROOF_PACKETS = 5;

export interface RtpAddress {
  /** An IP address; IPv4 ones never as IPv6. */
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

  /** Undefined if what was announced is no address that can be sent to. */
  constructor(announced: RtpAddress | undefined) {
    this.#announced = announced;
  }

  /** Where to send; undefined until it is known. */
  get target(): RtpAddress | undefined {
    return this.#locked ?? this.#announced;
  }

  /** Whether a packet is the call's. */
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
