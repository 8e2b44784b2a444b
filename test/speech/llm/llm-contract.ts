// What every language model must do, whatever server is behind it. The server is given as the four
// behaviours that the contract needs; a service's own test says how its wire spells them.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { LanguageModel, LlmRequest } from '../../../src/speech/llm/llm.ts';
import { type FakeClock, settle } from '../../fakes/fake-clock.ts';

export interface ModelUnderTest {
  model: LanguageModel;
  clock: FakeClock;
  /** Makes the server answer the next request so. */
  next: {
    says(text: string): void;
    calls(name: string, args: Record<string, unknown>): void;
    /** Says `text`, then nothing more, and never ends. */
    stallsAfter(text: string): void;
    refusesCredentials(): void;
    isEmpty(): void;
  };
  /** Resolves when the server has seen the newest request. */
  requested(): Promise<void>;
  /** Resolves when the server has seen the newest request closed by the client. */
  closed(): Promise<void>;
  close(): Promise<void>;
}

export const ask: LlmRequest = {
  messages: [
    { role: 'system', content: 'You answer the phone.' },
    { role: 'user', content: 'Hello?' },
  ],
  tools: [{ name: 'end_call', description: 'Hangs up', parameters: { type: 'object' } }],
  temperature: 0.2,
  tokensMax: 100,
  json: false,
};

export function languageModelContract(name: string, open: () => Promise<ModelUnderTest>): void {
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
      under.next.stallsAfter('Well');
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
      under.next.stallsAfter('Well');
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
