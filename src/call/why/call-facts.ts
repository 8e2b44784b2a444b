// The facts of a call that its explanation needs, collected from its events in one pass. Draws no conclusions.

import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import type { Run } from '../../model/run.ts';
import { isObject, parseJson } from '../../std/json.ts';
import { UNFINISHED } from '../../workflow/engine/tool-results.ts';

type Body<T extends CallEventBody['type']> = Extract<CallEventBody, { type: T }>;

/** An event with its place in the conversation. */
export interface Moment<B extends CallEventBody = CallEventBody> {
  seq: number;
  /** Wall clock, milliseconds since 1970. */
  at: number;
  atMs: number;
  body: B;
  nodeId: string | null;
  nodeName: string | null;
  /** The caller's turns so far. */
  turn: number;
}

export type MomentOf<T extends CallEventBody['type']> = Moment<Body<T>>;

export interface ToolUse {
  name: string;
  called: MomentOf<'function.called'>;
  returned: MomentOf<'function.returned'> | undefined;
  /** `failed`: its server failed, refused or was not reached. `late`: it did not answer in time. `pending`: the call ended
   *  before it answered. `not-called`: its arguments or its moment were wrong. */
  outcome: 'ok' | 'failed' | 'late' | 'pending' | 'not-called';
  /** Text of the failure, or an empty text. */
  problem: string;
}

export interface CallFacts {
  run: Run;
  moments: readonly Moment[];
  statuses: readonly MomentOf<'call.status'>[];
  faults: readonly MomentOf<'fault'>[];
  turns: readonly MomentOf<'user.turn'>[];
  said: readonly MomentOf<'agent.said'>[];
  nodes: readonly MomentOf<'node.entered'>[];
  latencies: readonly MomentOf<'turn.latency'>[];
  modelUses: readonly MomentOf<'model.usage'>[];
  tools: readonly ToolUse[];
  keys: number;
  created: MomentOf<'call.created'> | undefined;
  mediaStarted: MomentOf<'media.started'> | undefined;
  /** End of the wait for a place. */
  waited: MomentOf<'wait.ended'> | undefined;
  answeredBy: MomentOf<'call.answered-by'> | undefined;
  ended: MomentOf<'call.ended'> | undefined;
  last: Moment | undefined;
}

/** `events`: in the order of the log, without those that do not count (`effectiveEvents`). */
export function callFactsOf(run: Run, events: readonly CallEvent[]): CallFacts {
  const moments = momentsOf(events);
  const all = <T extends CallEventBody['type']>(type: T): MomentOf<T>[] =>
    moments.filter((moment): moment is MomentOf<T> => moment.body.type === type);
  return {
    run,
    moments,
    statuses: all('call.status'),
    faults: all('fault'),
    turns: all('user.turn'),
    said: all('agent.said'),
    nodes: all('node.entered'),
    latencies: all('turn.latency'),
    modelUses: all('model.usage'),
    tools: toolsOf(moments),
    keys: all('dtmf').length,
    created: all('call.created')[0],
    mediaStarted: all('media.started')[0],
    waited: all('wait.ended')[0],
    answeredBy: all('call.answered-by').at(-1),
    ended: all('call.ended').at(-1),
    last: moments.at(-1),
  };
}

function momentsOf(events: readonly CallEvent[]): Moment[] {
  let place: Pick<Moment, 'nodeId' | 'nodeName'> = { nodeId: null, nodeName: null };
  let turn = 0;
  return events.map(({ seq, at, mediaMs, body }) => {
    if (body.type === 'node.entered') place = { nodeId: body.nodeId, nodeName: body.nodeName };
    if (body.type === 'user.turn') turn += 1;
    return { seq, at, atMs: Math.round(mediaMs), body, ...place, turn };
  });
}

function toolsOf(moments: readonly Moment[]): ToolUse[] {
  const all: ToolUse[] = [];
  /** The latest use of each id: some services repeat theirs. */
  const uses = new Map<string, ToolUse>();
  moments.forEach((moment, index) => {
    const { body } = moment;
    if (body.type === 'function.called') {
      const called = { ...moment, body };
      const { name, callId } = body;
      const pending: ToolUse = {
        name,
        called,
        returned: undefined,
        outcome: 'pending',
        problem: '',
      };
      all.push(pending);
      uses.set(callId, pending);
    }
    const use = body.type === 'function.returned' ? uses.get(body.callId) : undefined;
    if (use === undefined || body.type !== 'function.returned') return;
    use.returned = { ...moment, body };
    const input = moments[index - 1]?.body;
    Object.assign(use, outcomeOf(body.result, input?.type === 'engine.input' ? input : undefined));
  });
  return all;
}

/** `input`: the engine's input before the result, which says how it came about. */
function outcomeOf(
  text: string,
  input: Body<'engine.input'> | undefined,
): Pick<ToolUse, 'outcome' | 'problem'> {
  const result = parseJson(text);
  if (!isObject(result)) return { outcome: 'ok', problem: '' };
  const { status, error, message, reason, status_code: code } = result;
  if (status === 'transfer_failed') {
    return { outcome: 'failed', problem: `${String(reason)}: ${String(message)}` };
  }
  if (status !== 'error') return { outcome: 'ok', problem: '' };
  const problem = String(error);
  const how = input?.input;
  if (how?.type === 'call-out-failed') return { outcome: how.isLate ? 'late' : 'failed', problem };
  if (code !== undefined) return { outcome: 'failed', problem };
  return { outcome: text === UNFINISHED ? 'pending' : 'not-called', problem };
}

/** A text of the run's contexts; undefined without one. */
export function textIn(values: Record<string, unknown>, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
