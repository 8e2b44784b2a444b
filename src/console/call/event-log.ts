// The events of a run as its log has them, all pages.

import { client, type Schema } from '../api/client.ts';

export interface LoggedEvent {
  seq: number;
  at: string;
  at_ms: number;
  type: string;
  data: Record<string, unknown>;
}

/** Events that a page reads at most: a call of some hours. */
export const EVENTS_MAX = 20_000;
const PAGE = 500;

export interface RunAddress {
  workflow_id: string;
  run_id: string;
}

export type Run = Schema<'WorkflowRunResponseSchema'>;

/** The first EVENTS_MAX events, and whether there are more. Rejects with an ApiError. */
export async function readEvents(
  path: RunAddress,
): Promise<{ events: LoggedEvent[]; isCut: boolean }> {
  const events: LoggedEvent[] = [];
  let after: number | null = 0;
  while (after !== null && events.length < EVENTS_MAX) {
    const page: { events: LoggedEvent[]; next: number | null } = await readPage(path, after);
    events.push(...page.events);
    after = page.next;
  }
  return { events, isCut: after !== null };
}

async function readPage(path: RunAddress, after: number) {
  const { data } = await client.GET('/api/v1/workflow/{workflow_id}/runs/{run_id}/events.json', {
    params: { path, query: { after, limit: PAGE } },
  });
  return data ?? { events: [], next: null };
}
