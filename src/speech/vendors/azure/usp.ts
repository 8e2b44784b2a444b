// Frames of Azure's speech websocket (Universal Speech Protocol). Text message: header lines and a body. Binary
// message: header length in two bytes (big-endian), header lines, audio. Source: Azure's Speech SDK 1.52.

import { isObject, parseJson } from '../../../std/json.ts';
import { systemRandom } from '../../../std/random.ts';

/** Random id of a connection or request: 32 hexadecimal digits. */
export function hexId(): string {
  return systemRandom.bytes(16).toString('hex');
}

export interface UspHead {
  path: string;
  requestId: string;
  /** ISO 8601 time. */
  timestamp: string;
}

const linesOf = ({ path, requestId, timestamp }: UspHead, type: string): string =>
  `Path: ${path}\r\nX-RequestId: ${requestId}\r\nX-Timestamp: ${timestamp}\r\nContent-Type: ${type}\r\n`;

export function textFrame(head: UspHead, body: object): string {
  return `${linesOf(head, 'application/json')}\r\n${JSON.stringify(body)}`;
}

export function audioFrame(head: UspHead, audio: Uint8Array): Buffer {
  const lines = Buffer.from(linesOf(head, 'audio/x-wav'));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(lines.length);
  return Buffer.concat([length, lines, audio]);
}

/** Header of a WAV file of unknown length, µ-law at 8 kHz. */
export function ulawHeader(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(7, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36, 'latin1');
  return header;
}

/** Body of a text message, with the message's path as `path`. Undefined for anything else. */
export function readFrame(text: string): Record<string, unknown> | undefined {
  const at = text.indexOf('\r\n\r\n');
  const path = /^path:\s*([\w.]+)\s*$/im.exec(at < 0 ? text : text.slice(0, at))?.[1];
  if (path === undefined) return undefined;
  const body = at < 0 ? undefined : parseJson(text.slice(at + 4));
  return { ...(isObject(body) && body), path };
}
