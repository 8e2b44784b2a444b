// The header of RTP packets (sequence, timestamp, SSRC), read and written. Pure. Source: RFC 3550 (5.1, 5.3.1).

const VERSION = 2;
const HEADER_BYTES = 12;
const SOURCE_BYTES = 4;
const EXTENSION_BYTES = 4;
/** Largest packet: more than any of a network without jumbo frames. */
const PACKET_BYTES_MAX = 2_048;

export interface RtpHeader {
  payloadType: number;
  /** Sequence number, 16 bits. */
  sequence: number;
  /** Timestamp, 32 bits, in units of the payload type's clock. */
  timestamp: number;
  /** Identity of the sender (SSRC), 32 bits. */
  ssrc: number;
  /** Whether this is the first packet after a pause. */
  marker: boolean;
}

export interface RtpPacket extends RtpHeader {
  /** Payload: a view of the packet. */
  payload: Uint8Array;
}

/** Parses a packet. Undefined if it is not RTP. */
export function readRtp(packet: Uint8Array): RtpPacket | undefined {
  const { length } = packet;
  if (length < HEADER_BYTES || length > PACKET_BYTES_MAX) return undefined;
  const first = packet[0] as number;
  if (first >> 6 !== VERSION) return undefined;
  const start = payloadStart(packet, first);
  const padding = (first & 0x20) === 0 ? 0 : (packet[length - 1] as number);
  const hasPadding = (first & 0x20) !== 0;
  if (start > length || (hasPadding && (padding === 0 || padding > length - start))) {
    return undefined;
  }
  const second = packet[1] as number;
  return {
    payloadType: second & 0x7f,
    marker: second > 0x7f,
    sequence: ((packet[2] as number) << 8) | (packet[3] as number),
    timestamp: word(packet, 4),
    ssrc: word(packet, 8),
    payload: packet.subarray(start, length - padding),
  };
}

/** Index of the payload, after the contributing sources and the extension. May be beyond the end. */
function payloadStart(packet: Uint8Array, first: number): number {
  const start = HEADER_BYTES + SOURCE_BYTES * (first & 0x0f);
  if ((first & 0x10) === 0) return start;
  if (start + EXTENSION_BYTES > packet.length) return Number.POSITIVE_INFINITY;
  const words = ((packet[start + 2] as number) << 8) | (packet[start + 3] as number);
  return start + EXTENSION_BYTES + 4 * words;
}

function word(packet: Uint8Array, at: number): number {
  return (
    (((packet[at] as number) << 24) |
      ((packet[at + 1] as number) << 16) |
      ((packet[at + 2] as number) << 8) |
      (packet[at + 3] as number)) >>>
    0
  );
}

/** Encodes a packet. The caller owns the result. */
export function writeRtp(header: RtpHeader, payload: Uint8Array): Uint8Array {
  const packet = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(packet.buffer);
  packet[0] = VERSION << 6;
  packet[1] = header.payloadType | (header.marker ? 0x80 : 0);
  view.setUint16(2, header.sequence);
  view.setUint32(4, header.timestamp);
  view.setUint32(8, header.ssrc);
  packet.set(payload, HEADER_BYTES);
  return packet;
}
