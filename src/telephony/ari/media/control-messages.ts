// The control messages of Asterisk's media websocket in both of their forms, JSON and plain text, both ways.
// Source: asterisk §2.3, §2.4.

import { z } from 'zod';
import { isObject, parseJson } from '../../../std/json.ts';

export interface ControlMessage {
  event: string;
  channelId: string | undefined;
  format: string | undefined;
  /** Of a mark or a digit that comes back. */
  correlationId: string;
  queueLength: number | undefined;
  /** Of 20 ms; undefined where there is no queue. */
  frameBytes: number | undefined;
  /** Our own: of all that was sent. */
  unplayedMs: number;
  text: string | undefined;
}

/** Commands that are longer are passed over by Asterisk. */
const COMMAND_BYTES_MAX = 128;
const WORD = /^[A-Z][A-Z_]{1,40}\b/;

const json = z.looseObject({
  event: z.string().max(64),
  channel_id: z.string().max(255).optional().catch(undefined),
  format: z.string().max(64).optional().catch(undefined),
  correlation_id: z.string().max(255).catch(''),
  digit: z.string().max(8).catch(''),
  queue_length: z.number().optional().catch(undefined),
  optimal_frame_size: z.int().min(1).optional().catch(undefined),
  unplayed_ms: z.number().min(0).max(60_000).catch(0),
  error_text: z.string().optional().catch(undefined),
});

/** Undefined for what is neither form. */
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
    correlationId: known.event === 'DIGIT' ? known.digit : known.correlation_id,
    queueLength: known.queue_length,
    frameBytes: known.optimal_frame_size,
    unplayedMs: known.unplayed_ms,
    text: known.error_text,
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
    correlationId: event === 'MEDIA_MARK_PROCESSED' ? (rest.split(' ', 1)[0] ?? '') : '',
    queueLength: count(facts.get('queue_length')),
    frameBytes: count(facts.get('optimal_frame_size')) || undefined,
    unplayedMs: 0,
    text: event === 'ERROR' ? rest : undefined,
  };
}

/** Digits only. */
function count(text = ''): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Undefined for a command that is too long to be read. */
export function command(name: string, correlationId?: string): string | undefined {
  const words = {
    command: name,
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
  };
  const text = JSON.stringify(words);
  return Buffer.byteLength(text) > COMMAND_BYTES_MAX ? undefined : text;
}

/** The name of a mark, if that is what a command of ours asks for. */
export function markIn(command: string): string | undefined {
  if (!command.includes('MARK_MEDIA')) return undefined;
  const parsed = parseJson(command);
  const name = isObject(parsed) ? parsed['correlation_id'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** What Asterisk says once it has played everything before a mark. */
export function markWords(name: string): string {
  return JSON.stringify({ event: 'MEDIA_MARK_PROCESSED', correlation_id: name });
}

/** Our own, for a key that was told of elsewhere: it takes the way of the media, in order with them. */
export function digitWords(digit: string): string {
  return JSON.stringify({ event: 'DIGIT', digit });
}

/** Our own: how much of all that was sent is not played yet, at least. */
export function unplayedWords(ms: number): string {
  return JSON.stringify({ event: 'UNPLAYED', unplayed_ms: ms });
}

/** What carriers without control messages begin with. */
export function startWords(facts: { channelId: string; format: string }): string {
  return JSON.stringify({
    event: 'MEDIA_START',
    channel_id: facts.channelId,
    format: facts.format,
  });
}
