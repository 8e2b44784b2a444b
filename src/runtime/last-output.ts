// The end of what another process writes to a stream, such as its standard error: why it died, as a rule.

import type { Readable } from 'node:stream';

export interface LastOutputOptions {
  /** Of the end that is kept. */
  charactersMax: number;
  /** Gets everything as well. */
  onText?: (text: string) => void;
}

/** Gives what was written last, without white space around it. */
export function keepLastOutput(
  stream: Readable | null,
  { charactersMax, onText }: LastOutputOptions,
): () => string {
  let end = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (text: string) => {
    end = (end + text).slice(-charactersMax);
    onText?.(text);
  });
  return () => end.trim();
}
