// Reads an answer of an OpenAI-compatible server from the response body: server-sent events, or one JSON object
// from servers that do not stream.

import type { Readable } from 'node:stream';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import { parseJson } from '../../../std/json.ts';
import type { ResponseTimeout } from '../response-timeout.ts';
import { createSseParser } from '../sse.ts';
import type { AnswerBuilder } from './openai-answer.ts';
import { errorOfStream } from './openai-error.ts';
import { chunkSchema, errorSchema } from './openai-wire.ts';

export interface StreamReader {
  builder: AnswerBuilder;
  watch: ResponseTimeout;
  clock: Clock;
  /** A token arrived: text, or '' for a tool call. */
  onText: (speakable: string) => void;
}

/** An answer that is not streamed. */
const JSON_BYTES_MAX = 2_000_000;
/** After the end of an answer: time for the usage, and for the server to end the response. */
const LINGER_MS_MAX = 250;

/** Resolves when the answer is complete. Rejects with LLM_FAILED if the body ends before, with LLM_MALFORMED,
 *  the server's own error, or the network's. */
export function readAnswer(body: Readable, reading: StreamReader): Promise<void> {
  const { builder, watch, clock } = reading;
  const document = createDocument(reading);
  return new Promise((resolve, reject) => {
    let lingering = false;
    const attempt = (step: () => void): boolean => {
      try {
        step();
        return true;
      } catch (error) {
        reject(error);
        body.destroy();
        return false;
      }
    };
    const finish = () => {
      if (attempt(() => document.end())) resolve();
    };
    body.on('data', (bytes: Buffer) => {
      if (document.complete || !attempt(() => document.push(bytes))) return;
      if ((document.complete || builder.finished) && !lingering) {
        lingering = true;
        // A server that keeps the response open blocks a connection, but does not delay the caller.
        const timer = clock.after(LINGER_MS_MAX, () => body.destroy());
        body.once('close', () => timer.cancel());
      }
      if (document.complete) resolve();
    });
    body.on('end', finish);
    body.on('error', (error) => {
      if (builder.finished && !watch.signal.aborted) finish();
      else reject(error);
    });
    body.on('close', finish);
  });
}

interface Document {
  /** The server's end marker: nothing follows. */
  readonly complete: boolean;
  push(bytes: Uint8Array): void;
  end(): void;
}

function createDocument({ builder, watch, onText }: StreamReader): Document {
  const parser = createSseParser();
  let json: Uint8Array[] | undefined;
  let jsonBytes = 0;
  let kindKnown = false;
  let complete = false;

  function takeObject(text: string): void {
    const object = parseJson(text);
    const error = errorSchema.safeParse(object);
    if (error.success) throw errorOfStream(error.data);
    const chunk = chunkSchema.safeParse(object);
    if (!chunk.success) throw new GatewayError('LLM_MALFORMED', {}, chunk.error);
    const speakable = builder.add(chunk.data);
    if (builder.begun) watch.noteToken();
    const calls = chunk.data.choices?.some((each) => (each.delta?.tool_calls ?? []).length > 0);
    if (speakable !== '' || calls) onText(speakable);
  }

  function takeEvent(data: string): void {
    if (complete || data === '') return;
    if (data.trim() === '[DONE]') complete = true;
    else takeObject(data);
  }

  return {
    get complete() {
      return complete;
    },
    push(bytes) {
      if (!kindKnown) {
        const start = Buffer.from(bytes).toString('latin1').trimStart();
        if (start === '') return;
        kindKnown = true;
        if (start.startsWith('{')) json = [];
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
      if (complete) return;
      if (json !== undefined) {
        takeObject(Buffer.concat(json).toString('utf8'));
        complete = true;
      }
      for (const event of parser.end()) takeEvent(event.data);
      if (complete || builder.finished) return;
      throw new GatewayError('LLM_FAILED', { reason: 'the answer ended early' });
    },
  };
}
