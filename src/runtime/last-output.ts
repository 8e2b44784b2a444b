// Keeps the end of another process's output, such as its standard error, which usually shows why it died.

import type { Readable } from 'node:stream';

export interface LastOutputOptions {
  /** Length of the kept end. */
  charactersMax: number;
  /** Called with all output as well. */
  onText?: (text: string) => void;
}

/** Returns a function that gives the last output, trimmed. */
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
