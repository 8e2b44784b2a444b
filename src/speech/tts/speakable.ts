// Text that a synthesiser can speak. Services answer nothing to a piece without letters and digits, or never end it.

/** Whether there is at least a letter or a digit. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** A piece of an utterance as services take it: white space joined, and a space at the end, without which the last word
 *  runs into the next piece. */
export function pieceOf(text: string): string {
  return `${text.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ').trim()} `;
}
