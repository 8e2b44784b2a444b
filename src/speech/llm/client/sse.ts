// Reads server-sent events from a byte stream, as language model servers send them, with the parser of
// eventsource-parser (WHATWG HTML, 9.2.6 "Interpreting an event stream"). It does not reconnect. Unlike there, an event
// cut off by the end of the stream is returned, since servers omit the last blank line.

import { createParser } from 'eventsource-parser';
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
  let events: SseEvent[] = [];
  const parser = createParser({
    maxBufferSize: eventCharsMax,
    onEvent: ({ event = 'message', data }) => events.push({ event, data }),
    onError(error) {
      // Its other errors are fields that the standard ignores.
      if (error.type !== 'max-buffer-size-exceeded') return;
      throw new GatewayError('LLM_MALFORMED', { eventCharsMax });
    },
  });

  function take(text: string): SseEvent[] {
    events = [];
    parser.feed(text);
    return events;
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => take(`${decoder.decode()}\n\n`),
  };
}
