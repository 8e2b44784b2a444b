// Reads an answer from the response body: server-sent events, or one JSON value from servers that do not stream. It
// does not reconnect. Source: WHATWG HTML, 9.2.6 "Interpreting an event stream". Unlike there, an event cut off by the
// end of the stream is returned, since servers omit the last blank line.

import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import { parseJson } from '../../../std/json.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import type { AnswerReader, ModelProtocol } from './protocol.ts';
import type { ResponseTimeout } from './response-timeout.ts';
import { type ErrorContext, filterRefusal, serviceFault } from './service-error.ts';

interface StreamReader {
  answer: AnswerReader;
  protocol: Pick<ModelProtocol, 'readError'>;
  context: ErrorContext;
  watch: ResponseTimeout;
  clock: Clock;
  /** Called for each token: with its speakable text, or '' for a tool call. */
  onText: (speakable: string) => void;
}

/** Largest answer that is not streamed. */
const JSON_BYTES_MAX = 2_000_000;
/** Wait after the end of an answer for the usage and for the server to end the response. */
const LINGER_MS_MAX = 250;

/** Resolves when the answer is complete. Rejects with LLM_FAILED if the body ends early, with LLM_MALFORMED, with the
 *  server's own error, or with a network error. */
export function readAnswer(body: Readable, reading: StreamReader): Promise<void> {
  const { answer, watch, clock } = reading;
  const document = createDocument(reading);
  return new Promise((resolve, reject) => {
    let lingering = false;
    let hasFailed = false;
    const fail = (error: unknown): void => {
      hasFailed = true;
      reject(error);
    };
    const attempt = (step: () => void): boolean => {
      // After a failure nothing more is passed on: another model may be answering.
      if (hasFailed) return false;
      try {
        step();
        return true;
      } catch (error) {
        fail(error);
        body.destroy();
        return false;
      }
    };
    const finish = () => {
      if (attempt(() => document.end())) resolve();
    };
    body.on('data', (bytes: Buffer) => {
      if (document.complete || !attempt(() => document.push(bytes))) return;
      if ((document.complete || answer.finished) && !lingering) {
        lingering = true;
        // A server that keeps the response open occupies a connection, but does not delay the caller.
        const timer = clock.after(LINGER_MS_MAX, () => body.destroy());
        body.once('close', () => timer.cancel());
      }
      if (document.complete) resolve();
    });
    body.on('end', finish);
    body.on('error', (error) => {
      if (answer.finished && !watch.signal.aborted) finish();
      else fail(error);
    });
    body.on('close', finish);
  });
}

interface Document {
  /** Whether the server's end marker arrived: nothing follows. */
  readonly complete: boolean;
  push(bytes: Uint8Array): void;
  end(): void;
}

function createDocument({ answer, protocol, context, watch, onText }: StreamReader): Document {
  const parser = createSseParser();
  let json: Uint8Array[] | undefined;
  let jsonBytes = 0;
  let kindKnown = false;
  let marked = false;

  function take(text: string): void {
    const value = parseJson(text);
    const error = protocol.readError(value);
    if (error !== undefined) throw filterRefusal(context, error) ?? serviceFault(context, error);
    const speakable = answer.add(value);
    if (answer.begun) watch.noteToken();
    if (speakable !== undefined) onText(speakable);
  }

  function takeEvent(data: string): void {
    if (marked || data === '') return;
    if (data.trim() === '[DONE]') marked = true;
    else take(data);
  }

  return {
    get complete() {
      return marked || answer.complete;
    },
    push(bytes) {
      if (!kindKnown) {
        const start = Buffer.from(bytes).toString('latin1').trimStart();
        if (start === '') return;
        kindKnown = true;
        if (/^[{[]/.test(start)) json = [];
      }
      if (json === undefined) {
        for (const event of parser.push(bytes)) takeEvent(event.data);
        return;
      }
      json.push(bytes);
      jsonBytes += bytes.length;
      if (jsonBytes > JSON_BYTES_MAX) throw new GatewayError('LLM_MALFORMED', { JSON_BYTES_MAX });
    },
    end() {
      if (marked || answer.complete) return;
      if (json !== undefined) {
        take(Buffer.concat(json).toString('utf8'));
        marked = true;
      }
      for (const event of parser.end()) takeEvent(event.data);
      if (marked || answer.finished || answer.complete) return;
      const detail = 'the answer ended early';
      throw new ServiceFault('llm', context.service, 'network', { detail });
    },
  };
}

export interface SseEvent {
  /** The `event` field, default "message". */
  event: string;
  /** The `data` lines, joined by line feeds. */
  data: string;
}

interface SseParser {
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
