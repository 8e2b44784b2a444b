// A conversation with the engine in a few lines: it sends events, keeps the actions, and checks what must
// always be true (the given state is not written to, and is plain JSON).

import { expect } from 'vitest';
import type { EndReason } from '../../src/model/end-reason.ts';
import type { DialogueLines } from '../../src/model/languages/languages.ts';
import type { LlmToolCall } from '../../src/model/llm-message.ts';
import type { DialoguePolicy, WorkflowDefinition } from '../../src/model/workflow.ts';
import { type FindClip, NO_CLIPS } from '../../src/workflow/engine/clip-refs.ts';
import type { DialogueAction, DialogueEvent } from '../../src/workflow/engine/dialogue-events.ts';
import {
  createEngine,
  type DialogueEngine,
  type DialogueEngineOptions,
  type DialogueState,
} from '../../src/workflow/engine.ts';
import { parseGraph } from '../../src/workflow/graph/graph.ts';
import { NO_TOOLS, type NodeTools } from '../../src/workflow/tools/offered-functions.ts';

export type Action<T extends DialogueAction['type']> = Extract<DialogueAction, { type: T }>;
type Untimed<E> = E extends DialogueEvent ? Omit<E, 'at'> : never;

/** Thursday, 3 September 2026, 16:05 UTC. */
export const AT = Date.UTC(2026, 8, 3, 16, 5, 0);

export class Conversation {
  readonly engine: DialogueEngine;
  readonly all: DialogueAction[] = [];
  state: DialogueState;
  /** The actions of the last event. */
  actions: DialogueAction[] = [];
  #unheard: { utteranceId: number; text: string }[] = [];

  constructor(
    definition: WorkflowDefinition,
    policy: DialoguePolicy,
    options: {
      dictionary?: string;
      lines?: Partial<DialogueLines>;
      clips?: FindClip;
      tools?: NodeTools;
      settings?: Partial<DialogueEngineOptions['settings']>;
      answerHandling?: DialogueEngineOptions['answerHandling'];
      more?: Partial<DialogueEngineOptions>;
    } = {},
  ) {
    this.engine = createEngine({
      graph: parseGraph(definition),
      policy,
      settings: { dictionary: options.dictionary ?? '', ...options.settings },
      answerHandling: options.answerHandling,
      lines: options.lines ?? {},
      clips: options.clips ?? NO_CLIPS,
      tools: options.tools ?? NO_TOOLS,
      ...options.more,
    });
    this.state = this.engine.initial;
  }

  tell(event: Untimed<DialogueEvent>): this {
    const before = JSON.stringify(this.state);
    const { state, actions } = this.engine.step(this.state, { at: AT, ...event });
    expect(JSON.stringify(this.state)).toBe(before);
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    this.state = state;
    this.actions = actions;
    this.all.push(...actions);
    for (const action of actions) {
      if (action.type === 'say') this.#unheard.push(action);
      if (action.type === 'generate') this.#unheard.push({ ...action, text: '' });
    }
    return this;
  }

  start(initialContext: Record<string, unknown> = {}): this {
    return this.tell({ type: 'started', direction: 'inbound', initialContext });
  }

  /** Everything that was to be said has been heard. */
  heard(): this {
    while (this.#unheard.length > 0) {
      const [{ utteranceId, text }] = this.#unheard as [{ utteranceId: number; text: string }];
      this.#unheard.shift();
      this.tell({ type: 'utterance-finished', utteranceId, heardText: text, interrupted: false });
    }
    return this;
  }

  interrupted(utteranceId: number, heardText: string): this {
    this.#unheard = this.#unheard.filter((one) => one.utteranceId !== utteranceId);
    return this.tell({ type: 'utterance-finished', utteranceId, heardText, interrupted: true });
  }

  caller(text: string, confidence: number | null = null): this {
    return this.tell({ type: 'caller-turn', text, confidence, source: 'speech' });
  }

  keys(text: string): this {
    return this.tell({ type: 'caller-turn', text, confidence: null, source: 'dtmf' });
  }

  /** The model answers the last request. */
  answer(text: string, ...calls: string[]): this {
    const { requestId, utteranceId } = this.last('generate');
    const unheard = this.#unheard.find((one) => one.utteranceId === utteranceId);
    if (unheard !== undefined) unheard.text = text;
    const toolCalls: LlmToolCall[] = calls.map((name, index) => ({
      id: `${requestId}.${index}`,
      name,
      arguments: {},
    }));
    return this.tell({ type: 'model-answered', requestId, text, toolCalls });
  }

  fail(): this {
    const { requestId } = this.last('generate');
    return this.tell({ type: 'model-failed', requestId, code: 'LLM_TIMEOUT' });
  }

  idle(): this {
    return this.tell({ type: 'idle' });
  }

  ending(reason: EndReason): this {
    return this.tell({ type: 'ending', reason });
  }

  /** The latest action of a type in the whole conversation. */
  last<T extends DialogueAction['type']>(type: T): Action<T> {
    const action = this.all.findLast((one): one is Action<T> => one.type === type);
    if (action === undefined) throw new Error(`no action ${type}`);
    return action;
  }

  /** The actions of a type after the last event. */
  of<T extends DialogueAction['type']>(type: T): Action<T>[] {
    return this.actions.filter((one): one is Action<T> => one.type === type);
  }

  /** What was said after the last event. */
  get said(): string[] {
    return this.of('say').map(({ text }) => text);
  }

  get types(): string[] {
    return this.actions.map(({ type }) => type);
  }

  get node(): string | null {
    return this.state.nodeId;
  }

  get gathered(): Record<string, unknown> {
    return this.engine.summarize(this.state).extractedVariables;
  }
}
