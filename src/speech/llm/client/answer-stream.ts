// Reads an answer from the response body: server-sent events, or one JSON value from servers that do not stream.

import type { Readable } from 'node:stream';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import { parseJson } from '../../../std/json.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import type { AnswerReader, ModelProtocol } from './protocol.ts';
import type { ResponseTimeout } from './response-timeout.ts';
import { type ErrorContext, filterRefusal, serviceFault } from './service-error.ts';
import { createSseParser } from './sse.ts';

export interface StreamReader {
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
