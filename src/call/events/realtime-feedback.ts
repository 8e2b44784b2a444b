// The contract's `rtf-*` items (logs.realtime_feedback_events, contract §8.10) from a run's event log.

import type { CallEvent, CallEventBody } from '../../model/call-event.ts';
import { stamp } from './transcript.ts';

export interface FeedbackItem {
  type: string;
  payload: Record<string, unknown>;
  timestamp: string;
  /** Media time of the item, in milliseconds: that of the recording. Of what a side said, the begin of the speech. */
  at_ms?: number;
  turn?: number;
  node_id?: string;
  node_name?: string;
}

/** Functions under way that are timed. */
const CALLED_MAX = 100;

interface Place {
  turn: number;
  nodeId: string | undefined;
  nodeName: string | undefined;
}

/** Items in the order of the log. Events without a counterpart in the contract are omitted. */
export function feedbackItems(events: readonly CallEvent[]): FeedbackItem[] {
  const feedback = new Feedback();
  return events.flatMap((event) => feedback.next(event) ?? []);
}

/** Converts a log event by event, as `feedbackItems` does. */
export class Feedback {
  readonly #place: Place = { turn: 0, nodeId: undefined, nodeName: undefined };
  /** When functions that have not returned were called, in wall clock milliseconds. */
  readonly #calledAt = new Map<string, number>();

  /** The event's item; undefined if it has none. */
  next(event: CallEvent): FeedbackItem | undefined {
    const { body } = event;
    const place = this.#place;
    if (body.type === 'node.entered') {
      place.nodeId = body.nodeId;
      place.nodeName = body.nodeName;
    }
    if (body.type === 'user.turn') place.turn += 1;
    const item = itemOf(body, event.at - event.mediaMs);
    if (item === undefined) return undefined;
    if (body.type === 'function.called') this.#called(body.callId, event.at);
    if (body.type === 'function.returned') Object.assign(item.payload, this.#tookOf(event, body));
    return {
      ...item,
      timestamp: stamp(event.at),
      at_ms: Math.round('startMs' in body ? body.startMs : event.mediaMs),
      turn: place.turn,
      ...(place.nodeId === undefined ? {} : { node_id: place.nodeId }),
      ...(place.nodeName === undefined ? {} : { node_name: place.nodeName }),
    };
  }

  #called(callId: string, at: number): void {
    if (this.#calledAt.size < CALLED_MAX) this.#calledAt.set(callId, at);
  }

  #tookOf({ at }: CallEvent, { callId }: { callId: string }): { duration_ms?: number } {
    const calledAt = this.#calledAt.get(callId);
    this.#calledAt.delete(callId);
    return calledAt === undefined ? {} : { duration_ms: Math.max(0, Math.round(at - calledAt)) };
  }
}

type Item = Pick<FeedbackItem, 'type' | 'payload'>;

function itemOf(body: CallEventBody, originAt: number): Item | undefined {
  switch (body.type) {
    case 'user.turn':
      return {
        type: 'rtf-user-transcription',
        payload: {
          text: body.text,
          final: true,
          ...span(originAt, body),
          source: body.source,
        },
      };
    case 'agent.said':
      return {
        type: 'rtf-bot-text',
        payload: {
          text: body.text,
          ...span(originAt, body),
          interrupted: body.interrupted,
          ...(body.unheard !== undefined && { unheard_text: body.unheard }),
        },
      };
    case 'node.entered':
      return {
        type: 'rtf-node-transition',
        payload: {
          node_id: body.nodeId,
          node_name: body.nodeName,
          previous_node_id: body.previousNodeId,
          previous_node_name: body.previousNodeName,
          allow_interrupt: body.allowInterrupt,
        },
      };
    case 'agent.entered':
      return {
        type: 'rtf-agent-transition',
        payload: {
          agent_name: body.agentName,
          previous_agent_name: body.previousAgentName,
          workflow_id: body.workflowId,
          reason: body.reason ?? null,
        },
      };
    case 'language.switched':
      return {
        type: 'rtf-language-switched',
        payload: { language: body.language, previous_language: body.previous },
      };
    case 'turn.latency':
      return {
        type: 'rtf-latency-measured',
        payload: {
          latency_seconds: body.parts.totalMs / 1_000,
          parts_ms: {
            endpointing: body.parts.endpointingMs,
            recognition: body.parts.recognitionMs,
            model: body.parts.modelMs,
            speech: body.parts.speechMs,
            gateway: body.parts.gatewayMs,
          },
        },
      };
    case 'dtmf':
      return { type: 'rtf-dtmf', payload: { digits: body.digit, direction: 'in' } };
    case 'digits.sent':
      return { type: 'rtf-dtmf', payload: { digits: body.digits, direction: 'out' } };
    case 'fault':
      return {
        type: 'rtf-pipeline-error',
        payload: {
          error: body.message,
          fatal: body.fatal,
          processor: body.code,
          ...(body.change !== undefined && { service_change: changeOnWire(body.change) }),
        },
      };
    default:
      return functionItem(body);
  }
}

function changeOnWire(
  change: NonNullable<Extract<CallEventBody, { type: 'fault' }>['change']>,
): Record<string, string> {
  const { job, kind, from, fromModel, to, toModel } = change;
  return { kind: job, fault: kind, from, from_model: fromModel, to, to_model: toModel };
}

function functionItem(body: CallEventBody): Item | undefined {
  switch (body.type) {
    case 'model.usage':
      return {
        type: 'rtf-ttfb-metric',
        payload: {
          ttfb_seconds: body.firstTokenMs / 1_000,
          processor: body.service,
          model: body.model,
        },
      };
    case 'function.called':
      return {
        type: 'rtf-function-call-start',
        payload: {
          function_name: body.name,
          tool_call_id: body.callId,
          arguments: body.arguments,
        },
      };
    case 'function.returned':
      return {
        type: 'rtf-function-call-end',
        payload: { function_name: body.name, tool_call_id: body.callId, result: body.result },
      };
    case 'interruption':
      return {
        type: 'rtf-interruption',
        payload: {
          cause: body.cause,
          decision_seconds: body.decisionMs / 1_000,
          silence_seconds: body.silenceMs / 1_000,
        },
      };
    default:
      return undefined;
  }
}

function span(originAt: number, turn: { startMs: number; endMs: number }): Record<string, unknown> {
  return {
    timestamp: stamp(originAt + turn.startMs),
    end_timestamp: stamp(originAt + turn.endMs),
    start_ms: Math.round(turn.startMs),
    end_ms: Math.round(turn.endMs),
  };
}
