// Reads server-sent events from a byte stream, as language model servers send them. It does not reconnect.
// Source: WHATWG HTML, 9.2.6 "Interpreting an event stream". Unlike there, an event cut off by the end of the
// stream is returned, since servers omit the last blank line.

import { GatewayError } from '../../../errors/gateway-error.ts';

export interface SseEvent {
  /** The `event` field, default "message". */
  event: string;
  /** The `data` lines, joined by line feeds. */
  data: string;
}

export interface SseParser {
  /** Returns the events that `bytes` completes. Throws LLM_MALFORMED beyond the limit. */
  push(bytes: Uint8Array): SseEvent[];
  /** Returns the last event if the stream ended within it. */
  end(): SseEvent[];
}

/** Characters of one event. Some servers send a tool's arguments in one piece. */
const EVENT_CHARS_MAX = 1_000_000;

export function createSseParser(eventCharsMax = EVENT_CHARS_MAX): SseParser {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: false });
  /** Characters of the incomplete line. */
  let rest = '';
  let data: string[] = [];
  let dataChars = 0;
  let event = '';
  /** Whether the last push ended in CR: an LF that follows belongs to it. */
  let afterReturn = false;

  function guard(): void {
    if (rest.length + dataChars <= eventCharsMax) return;
    throw new GatewayError('LLM_MALFORMED', { eventCharsMax });
  }

  function finishEvent(events: SseEvent[]): void {
    if (data.length > 0) events.push({ event: event || 'message', data: data.join('\n') });
    data = [];
    dataChars = 0;
    event = '';
  }

  function takeLine(line: string, events: SseEvent[]): void {
    if (line === '') {
      finishEvent(events);
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    if (field === 'event') event = value;
    if (field !== 'data') return;
    data.push(value);
    dataChars += value.length + 1;
    guard();
  }

  function takeText(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    const fresh = afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') afterReturn = text.endsWith('\r');
    const lines = fresh.split(/\r\n|\n|\r/);
    lines[0] = rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(line, events);
    guard();
    return events;
  }

  return {
    push: (bytes) => takeText(decoder.decode(bytes, { stream: true })),
    end() {
      const events = takeText(decoder.decode());
      if (rest !== '') takeLine(rest, events);
      rest = '';
      finishEvent(events);
      return events;
    },
  };
}
