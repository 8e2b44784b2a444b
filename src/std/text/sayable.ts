// Whether a text has something that can be said.

/** False for spaces and punctuation alone, as is left of `Hi {{name}}, {{question}}?` without its words. */
export function isSayable(text: string): boolean {
  return /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text);
}
