// One event at a time.

import { describe, expect, it } from 'vitest';
import { DialogueQueue } from '../../../../src/call/session/dialogue/dialogue-queue.ts';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import type {
  DialogueAction,
  DialogueEvent,
} from '../../../../src/workflow/engine/dialogue-events.ts';
import { INITIAL_STATE } from '../../../../src/workflow/engine/state.ts';
import type { DialogueState } from '../../../../src/workflow/engine.ts';

const IDLE = { type: 'idle' } as const;

class Rig {
  readonly told: string[] = [];
  /** The number of each event that was reported as over. */
  readonly stepped: number[] = [];
  /** How many lines there were each time that nothing waited any more. */
  readonly drained: number[] = [];
  readonly queue: DialogueQueue;
  /** What the engine asks for at each event. */
  actions: DialogueAction[] = [];
  perform: (action: DialogueAction) => void = () => undefined;
  #now = 0;

  constructor() {
    this.queue = new DialogueQueue({
      engine: { step: (state, event) => this.#step(state, event) },
      state: INITIAL_STATE,
      clock: { now: () => ++this.#now },
      perform: (action) => this.perform(action),
      onStepped: ({ idles }) => this.stepped.push(idles),
      onDrained: () => this.drained.push(this.told.length),
      onBroken: (error) => this.told.push(`broken: ${codeOf(error) ?? String(error)}`),
    });
  }

  #step(state: DialogueState, { at, type }: DialogueEvent) {
    this.told.push(`${at} ${type}`);
    return { state: { ...state, idles: state.idles + 1 }, actions: this.actions };
  }
}

const end: DialogueAction = { type: 'end', reason: 'unknown' };

describe('the queue of a conversation', () => {
  it('steps through what an action brings about only when all actions are done', () => {
    const rig = new Rig();
    rig.actions = [end, end];
    let left = 2;
    rig.perform = () => {
      rig.told.push('done');
      if (left-- > 0) rig.queue.dispatch(IDLE);
    };
    rig.queue.dispatch(IDLE);
    expect(rig.told).toEqual([
      ...['1 idle', 'done', 'done'],
      ...['2 idle', 'done', 'done'],
      ...['3 idle', 'done', 'done'],
    ]);
    expect(rig.queue.state.idles).toBe(3);
    expect(rig.stepped).toEqual([1, 2, 3]);
  });

  it('takes several events before the first of them is stepped through', () => {
    const rig = new Rig();
    rig.actions = [end];
    rig.perform = () => {
      rig.told.push('done');
      if (rig.told.length === 2) rig.queue.dispatch({ type: 'waited', waitId: 1 });
    };
    rig.queue.dispatch(IDLE, IDLE);
    expect(rig.told).toEqual(['1 idle', 'done', '2 idle', 'done', '3 waited', 'done']);
    expect(rig.drained).toEqual([6]);
  });

  it('takes nothing once it is closed, nor what waited then', () => {
    const rig = new Rig();
    rig.actions = [end];
    rig.perform = () => {
      rig.queue.dispatch(IDLE);
      rig.queue.close();
    };
    rig.queue.dispatch(IDLE);
    rig.queue.dispatch(IDLE);
    expect(rig.told).toEqual(['1 idle']);
    expect(rig.stepped).toEqual([]);
  });

  it('reports an internal fault and continues', () => {
    const rig = new Rig();
    rig.actions = [end];
    rig.perform = () => {
      throw new Error('a bug');
    };
    rig.queue.dispatch(IDLE);
    rig.queue.dispatch(IDLE);
    expect(rig.told).toEqual(['1 idle', 'broken: Error: a bug', '2 idle', 'broken: Error: a bug']);
  });

  it('holds a thousand events', () => {
    const rig = new Rig();
    rig.actions = [end];
    let told = false;
    rig.perform = () => {
      if (told) return;
      told = true;
      for (let i = 0; i <= 1_000; i++) rig.queue.dispatch(IDLE);
    };
    rig.queue.dispatch(IDLE);
    expect(rig.told.filter((line) => line.startsWith('broken'))).toEqual(['broken: QUEUE_FULL']);
    expect(rig.queue.state.idles).toBe(1_001);
  });
});
