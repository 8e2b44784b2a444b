// What every language model must do, whatever server is behind it. The server is given as the four
// behaviours that the contract needs; a service's own test says how its wire spells them.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { LlmMessage } from '../../../src/model/llm-message.ts';
import type { LanguageModel } from '../../../src/speech/llm/llm.ts';
import { type FakeClock, settle } from '../../fakes/fake-clock.ts';
import type { Step } from '../../fakes/scripted-server.ts';
import { rounds } from '../../rounds.ts';
import { ask, foreignCalls } from './model-history.ts';

export interface ModelUnderTest {
  model: LanguageModel;
  clock: FakeClock;
  key: string;
  /** Lines of the log so far. */
  lines(): unknown[];
  /** Makes the server answer the next request so. */
  next: {
    says(text: string): void;
    calls(name: string, args: Record<string, unknown>): void;
    /** Says `text`, then does this. */
    breaksOff(text: string, ...then: Step[]): void;
    /** In words that repeat the key. */
    refusesCredentials(): void;
    isEmpty(): void;
    sends(...steps: Step[]): void;
  };
  /** Resolves when the server has seen the newest request. */
  requested(): Promise<void>;
  /** Resolves when the server has seen the newest request closed by the client. */
  closed(): Promise<void>;
  close(): Promise<void>;
}

/** How a service spells what the contract needs of its wire. */
export interface ModelWire {
  /** An answer with the text "Grüße. " and a call of `x` with `{"u":"ü"}`. */
  umlauts: readonly string[];
  /** Events of the wire. */
  events: readonly string[];
  /** An event in whose place any value is. */
  shaped: fc.Arbitrary<string>;
}

const TURNS: readonly LlmMessage[] = [
  { role: 'user', content: 'Hi ' },
  { role: 'user', content: '  ' },
  { role: 'assistant', content: 'So. ', toolCalls: [] },
  { role: 'assistant', content: '', toolCalls: [] },
];

export function languageModelContract(
  name: string,
  open: () => Promise<ModelUnderTest>,
  wire: ModelWire,
): void {
  describe(`${name}, as a language model`, () => {
    let under: ModelUnderTest;
    let heard: string[];
    const listener = { onText: (delta: string) => void heard.push(delta) };
    const never = new AbortController().signal;

    beforeEach(async () => {
      under = await open();
      heard = [];
    });
    afterEach(() => under.close());

    it('gives text as it comes, and the whole of it in the end', async () => {
      under.next.says('Good morning to you.');
      const answer = await under.model.respond(ask, listener, never);
      expect(heard.length).toBeGreaterThan(1);
      expect(heard.join('')).toBe('Good morning to you.');
      expect(answer).toMatchObject({ text: 'Good morning to you.', toolCalls: [] });
      expect(answer.finishReason).toBe('stop');
      expect(answer.totalMs).toBeGreaterThanOrEqual(answer.firstTokenMs);
    });

    it('gives tool calls with parsed arguments and an id', async () => {
      under.next.calls('end_call', { reason: 'done', count: 2 });
      const answer = await under.model.respond(ask, listener, never);
      expect(answer.finishReason).toBe('tool_calls');
      expect(answer.toolCalls).toMatchObject([
        {
          id: expect.stringMatching(/./),
          name: 'end_call',
          arguments: { reason: 'done', count: 2 },
        },
      ]);
    });

    it('closes the request and rejects with the reason when it is aborted', async () => {
      under.next.breaksOff('Well', 'stall');
      const abort = new AbortController();
      const answer = under.model.respond(ask, listener, abort.signal);
      const outcome = answer.catch((error: unknown) => error);
      await under.requested();
      const reason = new Error('barge-in');
      abort.abort(reason);
      expect(await outcome).toBe(reason);
      await under.closed();
      expect(under.clock.timers).toBe(0);
    });

    it('does not begin when it is aborted already', async () => {
      const reason = new Error('too late');
      await expect(under.model.respond(ask, listener, AbortSignal.abort(reason))).rejects.toBe(
        reason,
      );
    });

    it('says LLM_TIMEOUT when a token stays away', async () => {
      under.next.breaksOff('Well', 'stall');
      const answer = under.model.respond(ask, listener, never).catch(codeOf);
      while (heard.length === 0) await settle();
      under.clock.advance(60_000);
      expect(await answer).toBe('LLM_TIMEOUT');
      expect(under.clock.timers).toBe(0);
    });

    it('says LLM_AUTH when the credentials are refused', async () => {
      under.next.refusesCredentials();
      await expect(under.model.respond(ask, listener, never).catch(codeOf)).resolves.toBe(
        'LLM_AUTH',
      );
    });

    it('shows the key in no error and no log line', async () => {
      under.next.refusesCredentials();
      const error = await under.model.respond(ask, listener, never).catch((each) => each);
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(under.key);
      expect(under.lines().length).toBeGreaterThan(0);
      expect(JSON.stringify(under.lines())).not.toContain(under.key);
    });

    it('says LLM_EMPTY for an answer without a word', async () => {
      under.next.isEmpty();
      expect(await under.model.respond(ask, listener, never).catch(codeOf)).toBe('LLM_EMPTY');
    });

    it.each<[string, Step[]]>([
      ['half an answer', []],
      ['a connection that breaks', ['reset']],
    ])('says LLM_FAILED for %s', async (_what, then) => {
      under.next.breaksOff('Well', ...then);
      expect(await under.model.respond(ask, listener, never).catch(codeOf)).toBe('LLM_FAILED');
    });

    it('keeps the rules of roles for any conversation', async () => {
      const turn = fc.constantFrom(...TURNS).map((each) => [each]);
      const tools = fc.constant(foreignCalls.messages.slice(2));
      const messages = fc.array(fc.oneof(turn, tools), { maxLength: 8 });
      await fc.assert(
        fc.asyncProperty(messages, fc.boolean(), async (parts, withTools) => {
          under.next.says('Ok.');
          const request = { ...ask, messages: parts.flat(), tools: withTools ? ask.tools : [] };
          expect((await under.model.respond(request, listener, never)).text).toBe('Ok.');
        }),
        { numRuns: rounds(60, 120) },
      );
    });

    it('reads an answer that is cut within a line and within a letter', async () => {
      const bytes = Buffer.from(wire.umlauts.join(''));
      // Each letter that has several bytes, and each seventh byte.
      const cuts = [...bytes.keys()].filter((at) => at % 7 === 1 || (bytes[at] ?? 0) >= 0x80);
      for (const at of cuts) {
        under.next.sends(bytes.subarray(0, at), { until: settle }, bytes.subarray(at));
        const given = await under.model.respond(ask, listener, never);
        expect(given).toMatchObject({ text: 'Grüße. ', toolCalls: [{ arguments: { u: 'ü' } }] });
      }
    });

    it('answers or fails with a code whatever the server sends', async () => {
      const value = fc.jsonValue().map((each) => `data: ${JSON.stringify(each)}\n\n`);
      const event = fc.constantFrom(...wire.events);
      const step = fc.oneof(event, wire.shaped, value, fc.string(), fc.uint8Array());
      await fc.assert(
        fc.asyncProperty(fc.array(step), async (steps) => {
          under.next.sends(...steps);
          const outcome = await under.model.respond(ask, listener, never).then(
            () => 'ok',
            (error: unknown) => codeOf(error) ?? error,
          );
          expect(outcome).toMatch(/^(ok|LLM_[A-Z]+)$/);
        }),
        { numRuns: rounds(60, 120) },
      );
    });

    it('gives 200 answers, each its own, and leaves no timer', async () => {
      for (let nth = 0; nth < 200; nth++) {
        heard = [];
        under.next.says(`Answer number ${nth}.`);
        const { text } = await under.model.respond(ask, listener, never);
        expect([text, heard.join('')]).toEqual([`Answer number ${nth}.`, text]);
      }
      await settle();
      under.clock.advance(1_000);
      expect(under.clock.timers).toBe(0);
    });

    it('keeps no timer after an answer', async () => {
      under.next.says('Bye.');
      await under.model.respond(ask, listener, never);
      await settle();
      under.clock.advance(1_000);
      expect(under.clock.timers).toBe(0);
    });
  });
}
