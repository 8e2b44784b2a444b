// The pieces of a body: chunks, or what the network brings at once. Each takes the event loop some 3 us, however small it
// is, and a chunked body may have one for each byte.

import type { Readable } from 'node:stream';

/** What a piece counts at least. Packets of a slow client have some 1,400 bytes. */
export const PIECE_BYTES_MIN = 2_048;

/** Counts the pieces of a body as the connection brings them: who reads it after a wait gets many as one. Those before
 *  it was built are not counted, which are what the socket reads at once. */
export class PieceCount {
  pieces = 0;
  /** A piece as at least PIECE_BYTES_MIN. */
  bytes = 0;

  /** `onPiece` is called after each. */
  constructor(body: Readable, onPiece?: (pieces: number) => void) {
    const push = body.push.bind(body);
    body.push = (piece, encoding) => {
      // Null is the end.
      if (piece === null) return push(piece, encoding);
      this.pieces += 1;
      this.bytes += Math.max(piece.length, PIECE_BYTES_MIN);
      const wantsMore = push(piece, encoding);
      onPiece?.(this.pieces);
      return wantsMore;
    };
  }
}
