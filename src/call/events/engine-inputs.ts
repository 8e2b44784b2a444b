// Writes what the workflow engine gets into the run's log, so that its state can be rebuilt (state-rebuild.ts). Each
// fact is stored once: what another event of the log has, and what the engine made no use of, is left out.

import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import type { InputBound, StoredInput } from '../../model/engine-input.ts';
import { isObject } from '../../std/json.ts';
import { jsonText } from '../../store/db/column-values.ts';
import type { DialogueAction, DialogueEvent } from '../../workflow/engine/dialogue-events.ts';
import { hiddenVerdict } from '../../workflow/engine/hidden-digits.ts';
import type { DialogueState } from '../../workflow/engine.ts';

/** Limits of the inputs of one run. An input is at most an initial context (RUN_CONTEXT_LIMITS); everything else is far
 *  smaller. Half an hour of a talkative call has about 1,000 inputs and 200,000 characters. */
export const INPUT_LIMITS: Readonly<Record<InputBound, number>> = {
  'input-characters': 300_000,
  'run-inputs': 20_000,
  'run-characters': 4_000_000,
};
/** Characters of a value of the initial context that is not repeated: the run has it. */
const OWN_CHARACTERS_MAX = 200;

/** An event of the log with the content of an input. */
export type NotedInput = Extract<CallEventBody, { type: 'user.turn' | 'agent.said' }>;

/** One step of the engine: what it got, in which state, and what it did. */
export interface EngineStep {
  event: DialogueEvent;
  before: DialogueState;
  actions: readonly DialogueAction[];
  /** The event of the log that has the input's content, and is not in the log yet. */
  noted: NotedInput | undefined;
}

type Append = (body: CallEventBody, at: number) => void;

export class EngineInputs {
  readonly #append: Append;
  readonly #runContext: Record<string, unknown>;
  #count = 0;
  #characters = 0;
  #hasLost = false;

  /** `runContext`: the initial context that is stored with the run. `events`: the run's log so far. */
  constructor(options: {
    append: Append;
    runContext: Record<string, unknown>;
    events: readonly CallEvent[];
  }) {
    this.#append = options.append;
    this.#runContext = options.runContext;
    for (const { body } of options.events) {
      if (body.type === 'engine.input-lost') this.#hasLost = true;
      if (body.type === 'engine.input') this.#count += 1;
      if (body.type === 'engine.input') this.#characters += JSON.stringify(body).length;
    }
  }

  /** Stores an input before its actions are carried out. */
  take({ event, before, actions, noted }: EngineStep): void {
    const { at } = event;
    const mark = event.isCallerSpeaking === true ? ({ isCallerSpeaking: true } as const) : {};
    if (noted !== undefined) {
      const isCounted = this.#counts(event.type, 0, at);
      const digits = hiddenVerdict(before, event);
      const input = { ...mark, ...(digits && { digits }) };
      this.#append(isCounted ? { ...noted, input } : noted, at);
      return;
    }
    const input = this.#stored(event, before, actions);
    const body = { type: 'engine.input', input, ...mark } as const;
    if (this.#counts(event.type, JSON.stringify(body).length, at)) this.#append(body, at);
  }

  /** Counts an input. False if it must not be stored: it or an earlier one exceeds a limit, which the log names. */
  #counts(input: DialogueEvent['type'], characters: number, at: number): boolean {
    if (this.#hasLost) return false;
    this.#count += 1;
    this.#characters += characters;
    const bound = this.#exceeded(characters);
    if (bound === undefined) return true;
    this.#hasLost = true;
    this.#append({ type: 'engine.input-lost', input, bound, max: INPUT_LIMITS[bound] }, at);
    return false;
  }

  #exceeded(characters: number): InputBound | undefined {
    if (characters > INPUT_LIMITS['input-characters']) return 'input-characters';
    if (this.#count > INPUT_LIMITS['run-inputs']) return 'run-inputs';
    return this.#characters > INPUT_LIMITS['run-characters'] ? 'run-characters' : undefined;
  }

  #stored(
    event: DialogueEvent,
    before: DialogueState,
    actions: readonly DialogueAction[],
  ): StoredInput {
    const { at: _, isCallerSpeaking: __, ...input } = event;
    switch (input.type) {
      case 'started':
        return { ...input, ...this.#contextOf(input.initialContext) };
      case 'model-answered': {
        const { toolCalls, ...answer } = input;
        const calls = carriedOut(toolCalls, actions).map(({ vendor }) => {
          return vendor === undefined ? {} : { vendor };
        });
        return { ...answer, ...(calls.length > 0 && { calls }) };
      }
      case 'extracted':
        return { type: input.type, extractionId: input.extractionId };
      case 'called-out': {
        const { type, toolRunId, status } = input;
        const isLogged = before.tools?.pending.some((call) => call.toolRunId === toolRunId);
        return {
          type,
          toolRunId,
          status,
          ...(isLogged !== true && { data: resolvedPart(input.data) }),
        };
      }
      case 'call-out-failed': {
        const { type, toolRunId, isLate } = input;
        return { type, toolRunId, isLate };
      }
      case 'transfer-failed': {
        const { type, toolRunId, reason } = input;
        return { type, toolRunId, reason };
      }
      default:
        return input;
    }
  }

  /** The context without the long values that the run has. */
  #contextOf(
    initialContext: Record<string, unknown>,
  ): Pick<Extract<StoredInput, { type: 'started' }>, 'initialContext' | 'ofRun'> {
    const ofRun = Object.keys(initialContext).filter((name) => {
      const text = JSON.stringify(initialContext[name]) ?? '';
      if (text.length <= OWN_CHARACTERS_MAX || !Object.hasOwn(this.#runContext, name)) return false;
      return text === JSON.stringify(this.#runContext[name]);
    });
    if (ofRun.length === 0) return { initialContext };
    const left = Object.entries(initialContext).map(([name, value]) => {
      return [name, ofRun.includes(name) ? null : value];
    });
    return { initialContext: Object.fromEntries(left), ofRun };
  }
}

/** The event with values that come back from the store as they are: without NUL, unpaired surrogates, and numbers that
 *  JSON does not have. */
export function storable<E extends DialogueEvent | NotedInput>(event: E): E {
  // A reply may be long. What is not stored of it need not be storable: its result is, as JSON text.
  if (event.type === 'called-out' && resolvedPart(event.data) === null) return event;
  return JSON.parse(jsonText(event));
}

type Answered = Extract<DialogueEvent, { type: 'model-answered' }>;

/** The calls for which the engine has noted a `function.called`, which are the first ones. */
function carriedOut(
  calls: Answered['toolCalls'],
  actions: readonly DialogueAction[],
): Answered['toolCalls'] {
  const noted = actions.flatMap((action) =>
    action.type === 'log' && action.body.type === 'function.called' ? [action.body] : [],
  );
  const other = calls.findIndex(({ id, name }, index) => {
    const body = noted[index];
    return body?.callId !== id || body.name !== name;
  });
  return other < 0 ? calls : calls.slice(0, other);
}

/** The part of a server's reply that the engine reads if it is no result of a function: a transfer's destination. */
function resolvedPart(data: unknown): unknown {
  if (!isObject(data) || data['transfer_context'] === undefined) return null;
  return { transfer_context: data['transfer_context'] };
}
