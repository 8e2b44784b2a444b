// Items of a call's event stream (the contract's `rtf-*`, with media times) as the page reads them. A field that is
// absent or of another type counts as absent: streams of older runs have fewer.

import { objectOf } from '../parts/json-object.ts';

export interface CallItem {
  type: string;
  payload: Record<string, unknown>;
  /** ISO 8601. */
  timestamp: string;
  at_ms?: number | undefined;
  turn?: number | undefined;
  node_id?: string | undefined;
  node_name?: string | undefined;
}

/** The item in a message of the stream; undefined if it is none. */
export function itemIn(data: Record<string, unknown>): CallItem | undefined {
  const { type, payload, timestamp } = data;
  if (typeof type !== 'string' || typeof timestamp !== 'string') return undefined;
  return {
    type,
    timestamp,
    payload: objectOf(payload),
    at_ms: numberIn(data['at_ms']),
    turn: numberIn(data['turn']),
    node_id: stringIn(data['node_id']),
    node_name: stringIn(data['node_name']),
  };
}

export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function stringIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
