// The control messages of Asterisk's media websocket in both of their forms, JSON and plain text, both ways.
// Source: asterisk §2.3, §2.4.

import { z } from 'zod';
import { isObject, parseJson } from '../../../std/json.ts';

export interface ControlMessage {
  event: string;
  channelId: string | undefined;
  format: string | undefined;
  /** Name of the mark in MEDIA_MARK_PROCESSED. */
  mark: string;
  queueLength: number | undefined;
  /** Bytes of a frame of 20 ms; undefined where Asterisk has no queue. */
  frameBytes?: number | undefined;
}

/** Longest command. Asterisk ignores longer ones. */
const COMMAND_BYTES_MAX = 128;
const WORD = /^[A-Z][A-Z_]{1,40}\b/;

const json = z.looseObject({
  event: z.string().max(64),
  channel_id: z.string().max(255).optional().catch(undefined),
  format: z.string().max(64).optional().catch(undefined),
  correlation_id: z.string().max(255).catch(''),
  queue_length: z.number().optional().catch(undefined),
  optimal_frame_size: z.int().min(1).optional().catch(undefined),
});

/** The message in either form; undefined if it has neither. */
export function parseControlMessage(message: string): ControlMessage | undefined {
  return message.startsWith('{') ? readJson(message) : readPlain(message);
}

function readJson(message: string): ControlMessage | undefined {
  const parsed = parseJson(message);
  const known = isObject(parsed) ? json.safeParse(parsed).data : undefined;
  if (known === undefined) return undefined;
  return {
    event: known.event,
    channelId: known.channel_id,
    format: known.format,
    mark: known.correlation_id,
    queueLength: known.queue_length,
    frameBytes: known.optimal_frame_size,
  };
}

function readPlain(message: string): ControlMessage | undefined {
  const event = WORD.exec(message)?.[0];
  if (event === undefined) return undefined;
  const rest = message.slice(event.length).trim();
  const facts = new Map<string, string>();
  for (const [, key = '', value = ''] of rest.matchAll(/(\w+):(\S+)/g)) facts.set(key, value);
  return {
    event,
    channelId: facts.get('channel_id'),
    format: facts.get('format'),
    mark: event === 'MEDIA_MARK_PROCESSED' ? (rest.split(' ', 1)[0] ?? '') : '',
    queueLength: count(facts.get('queue_length')),
    frameBytes: count(facts.get('optimal_frame_size')) || undefined,
  };
}

/** The number in `text`; undefined unless it is all digits. */
function count(text = ''): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** The text of a command; undefined if it is too long. */
export function command(name: string, correlationId?: string): string | undefined {
  const words = {
    command: name,
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
  };
  const text = JSON.stringify(words);
  return Buffer.byteLength(text) > COMMAND_BYTES_MAX ? undefined : text;
}
