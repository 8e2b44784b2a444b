// Counts the pieces of a body: chunks, or what the network delivers at once. Each takes the event loop about 3 us,
// however small, and a chunked body may have one for each byte.

import type { Readable } from 'node:stream';

/** Bytes that a piece counts as at least. Packets of a slow client have about 1,400. */
export const PIECE_BYTES_MIN = 2_048;

/** Counts the pieces of a body as the connection delivers them; a reader that waits gets many as one. Excludes
 *  pieces from before it was created, which are what the socket reads at once. */
export class PieceCount {
  pieces = 0;
  /** Bytes so far; each piece counts as at least PIECE_BYTES_MIN. */
  bytes = 0;

  /** `onPiece` is called after each piece. */
  constructor(body: Readable, onPiece?: (pieces: number) => void) {
    const push = body.push.bind(body);
    body.push = (piece, encoding) => {
      // Null marks the end.
      if (piece === null) return push(piece, encoding);
      this.pieces += 1;
      this.bytes += Math.max(piece.length, PIECE_BYTES_MIN);
      const wantsMore = push(piece, encoding);
      onPiece?.(this.pieces);
      return wantsMore;
    };
  }
}
