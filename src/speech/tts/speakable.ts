// Text that a synthesiser can speak. To a piece without letters and digits, services answer nothing or never report its
// end.

/** Whether the text has at least one letter or digit. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** A piece of an utterance as services need it: white space joined, and a space at the end, without which the last word
 *  would join the next piece. */
export function pieceOf(text: string): string {
  return `${text.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ').trim()} `;
}
