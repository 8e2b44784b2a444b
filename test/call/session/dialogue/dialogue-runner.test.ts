// One runner for phone calls and text chats: only the medium differs.

import { describe, expect, it } from 'vitest';
import { DialogueRecord } from '../../../../src/call/session/dialogue/dialogue-record.ts';
import {
  type DialogueInput,
  type DialogueMedium,
  DialogueRunner,
} from '../../../../src/call/session/dialogue/dialogue-runner.ts';
import { failedTransfer } from '../../../../src/call/session/dialogue/tool-runner.ts';
import type { CallEventBody } from '../../../../src/model/call-event.ts';
import type {
  DialogueAction,
  DialogueEvent,
} from '../../../../src/workflow/engine/dialogue-events.ts';
import { INITIAL_STATE } from '../../../../src/workflow/engine/state.ts';
import type { DialogueState } from '../../../../src/workflow/engine.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { ScriptedModel } from '../../scripted-model.ts';

class Rig {
  readonly clock = new FakeClock();
  readonly llm = new ScriptedModel(this.clock);
  /** What happens, in order: events to the engine, words, facts. */
  readonly told: string[] = [];
  readonly noted: CallEventBody[] = [];
  readonly runner: DialogueRunner;
  state: DialogueState = { ...INITIAL_STATE, phase: 'talking' };
  /** What the engine asks for at an event of that type. */
  readonly asks = new Map<DialogueEvent['type'], DialogueAction[]>();

  constructor(medium: Partial<DialogueMedium> = {}) {
    this.runner = new DialogueRunner({
      engine: {
        initial: INITIAL_STATE,
        step: (_state, event) => {
          this.told.push(event.type);
          return { state: this.state, actions: this.asks.get(event.type) ?? [] };
        },
      },
      medium: {
        waitsAtOpening: true,
        say: ({ text }) => this.told.push(`says ${text}`),
        openAnswer: () => ({
          text: (delta) => this.told.push(`text ${delta}`),
          end: () => this.told.push('end of text'),
          cancel: () => this.told.push('text cancelled'),
        }),
        expect: () => undefined,
        transfer: async ({ toolRunId }) => failedTransfer(toolRunId, 'busy'),
        end: (reason) => this.told.push(`end ${reason}`),
        onBroken: (error) => this.told.push(`broken ${String(error)}`),
        ...medium,
      },
      record: new DialogueRecord((body) => this.noted.push(body)),
      organizationId: '1',
      workflowId: '7',
      llm: this.llm,
      toolRequests: {
        outside: { send: () => Promise.reject(new Error('not in this test')) },
        credentialHeaders: () => Promise.resolve({}),
      },
      clock: this.clock,
      log: quietLog().log,
    });
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settle();
  }
}

const IDLE: DialogueInput = { type: 'idle' };
const ask: DialogueAction = {
  type: 'generate',
  requestId: 1,
  utteranceId: 1,
  kind: 'reply',
  interruptible: true,
  messages: [],
  tools: [],
};
const wait: DialogueAction = { type: 'wait', waitId: 7, delayMs: 2_000 };

describe('the runner of a dialogue', () => {
  it("passes on a model's words as they arrive, then its answer to the engine", async () => {
    const rig = new Rig();
    rig.asks.set('idle', [ask]);
    rig.llm.answers = [{ say: ['Good ', 'day.'] }];
    rig.runner.dispatch(IDLE);
    expect(rig.runner.isAsking).toBe(true);
    await rig.pass(20);
    expect(rig.told).toEqual(['idle', 'text Good ']);
    await rig.pass(100);
    expect(rig.told.slice(2)).toEqual(['text day.', 'end of text', 'model-answered']);
    expect(rig.runner.isAsking).toBe(false);
    expect(rig.noted.map(({ type }) => type)).toEqual(['model.usage']);
    expect(rig.llm.requests.map(({ cacheKey }) => cacheKey)).toEqual(['workflow-7']);
  });

  it('allows a medium whose words are read at once to finish an utterance right behind its answer', async () => {
    const rig = new Rig({
      onAnswered: (requestId, text) => {
        rig.told.push(`answered ${requestId}: ${text}`);
        const utteranceId = requestId;
        return { type: 'utterance-finished', utteranceId, heardText: text, interrupted: false };
      },
    });
    rig.asks.set('idle', [ask]);
    rig.llm.answers = [{ say: ['Yes.'] }];
    rig.runner.dispatch(IDLE);
    await rig.pass(100);
    expect(rig.told.slice(-3)).toEqual([
      'answered 1: Yes.',
      'model-answered',
      'utterance-finished',
    ]);
  });

  it.each(['abandoned', 'cut off by the end'] as const)(
    'estimates the tokens of an answer that is %s',
    async (how) => {
      const rig = new Rig();
      rig.asks.set('idle', [{ ...ask, messages: [{ role: 'user', content: 'x'.repeat(400) }] }]);
      rig.asks.set('waiting', [{ type: 'abandon', requestId: 1 }]);
      rig.llm.answers = [{ say: ['Good day. ', 'And so on.'], stepMs: 100 }];
      rig.runner.dispatch(IDLE);
      await rig.pass(100);
      if (how === 'abandoned') rig.runner.dispatch({ type: 'waiting' });
      else rig.runner.close();
      await rig.pass(500);
      expect(rig.noted).toMatchObject([
        { type: 'model.usage', promptTokens: 100, completionTokens: 3, isEstimated: true },
      ]);
      expect(rig.noted[0]).toMatchObject({ firstTokenMs: 100, totalMs: 100 });
    },
  );

  it('notes a failed request, and gives the engine its failure', async () => {
    const rig = new Rig();
    rig.asks.set('idle', [ask]);
    rig.llm.answers = [{ fails: 'LLM_FAILED' }];
    rig.runner.dispatch(IDLE);
    await rig.pass(100);
    expect(rig.told).toEqual(['idle', 'text cancelled', 'model-failed']);
    expect(rig.noted).toMatchObject([{ type: 'fault', code: 'LLM_FAILED', fatal: false }]);
  });

  it.each([
    [true, []],
    [false, ['waited']],
  ])('keeps the pause before the first words: %s', async (waitsAtOpening, soon) => {
    const rig = new Rig({ waitsAtOpening });
    rig.state = {
      ...INITIAL_STATE,
      phase: 'delayed',
      waits: { ...INITIAL_STATE.waits, opening: 7 },
    };
    rig.asks.set('idle', [wait]);
    rig.runner.dispatch(IDLE);
    expect(rig.told).toEqual(['idle', ...soon]);
    await rig.pass(2_000);
    expect(rig.told).toEqual(['idle', 'waited']);
  });

  it('waits for all other times in either medium', async () => {
    const rig = new Rig({ waitsAtOpening: false });
    rig.asks.set('idle', [wait]);
    rig.runner.dispatch(IDLE);
    await rig.pass(1_999);
    expect(rig.told).toEqual(['idle']);
    await rig.pass(1);
    expect(rig.told).toEqual(['idle', 'waited']);
  });

  it('gives the outcome of a transfer to the engine', async () => {
    const rig = new Rig();
    rig.asks.set('idle', [{ type: 'transfer', toolRunId: 1, to: '+1', ringS: 20 }]);
    rig.runner.dispatch(IDLE);
    expect(rig.runner.isAsking).toBe(true);
    await settle();
    expect(rig.told).toEqual(['idle', 'transfer-failed']);
  });

  it('aborts what is under way when it is closed, and does nothing any more', async () => {
    const rig = new Rig();
    const extract = { type: 'extract', extractionId: 1, messages: [] } as const;
    rig.asks.set('idle', [ask, extract, wait]);
    rig.llm.answers = [{ hangs: true }];
    rig.runner.dispatch(IDLE);
    expect([rig.runner.isAsking, rig.runner.isExtracting]).toEqual([true, true]);
    rig.runner.close();
    rig.runner.dispatch(IDLE);
    await rig.pass(60_000);
    expect(rig.llm.aborted).toBe(2);
    expect(rig.told).toEqual(['idle']);
    expect(rig.clock.timers).toBe(0);
  });

  it('reports a fault of the medium once, and not to its timers', async () => {
    const rig = new Rig({
      beforeStep: ({ type }) => {
        if (type === 'waited') throw new Error('a bug');
      },
    });
    rig.asks.set('idle', [wait]);
    rig.runner.dispatch(IDLE);
    await rig.pass(2_000);
    expect(rig.told).toEqual(['idle', 'broken Error: a bug']);
  });
});
