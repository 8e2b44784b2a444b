// How the calls of a gateway find a speech or model service: each process notes it, and the API process merges the notes.

import { z } from 'zod';

/** What one process knows of a service, over all accounts. Times are milliseconds since 1970. */
export const serviceNotes = z.object({
  job: z.enum(['llm', 'tts', 'stt']),
  service: z.string(),
  /** Accounts and settings that calls pass by (open circuits), and since when the first of them. */
  openCircuits: z.int().nonnegative(),
  openSinceMs: z.number().nullable(),
  /** The last fault; null: none since the process began. */
  lastFault: z.object({ kind: z.string(), atMs: z.number() }).nullable(),
  lastSuccessMs: z.number().nullable(),
});
export type ServiceNotes = z.infer<typeof serviceNotes>;

/** The notes of several processes as one list, by job and service. */
export function mergedNotes(lists: readonly (readonly ServiceNotes[])[]): ServiceNotes[] {
  const merged = new Map<string, ServiceNotes>();
  for (const notes of lists.flat()) {
    const key = `${notes.job} ${notes.service}`;
    const other = merged.get(key);
    merged.set(key, other === undefined ? notes : mergedPair(other, notes));
  }
  return [...merged.keys()].sort().flatMap((key) => merged.get(key) ?? []);
}

function mergedPair(one: ServiceNotes, other: ServiceNotes): ServiceNotes {
  const faults = [one.lastFault, other.lastFault].filter((fault) => fault !== null);
  const [lastFault = null] = faults.sort((a, b) => b.atMs - a.atMs);
  const opened = [one.openSinceMs, other.openSinceMs].filter((ms) => ms !== null);
  const successes = [one.lastSuccessMs, other.lastSuccessMs].filter((ms) => ms !== null);
  return {
    job: one.job,
    service: one.service,
    openCircuits: one.openCircuits + other.openCircuits,
    openSinceMs: opened.length === 0 ? null : Math.min(...opened),
    lastFault,
    lastSuccessMs: successes.length === 0 ? null : Math.max(...successes),
  };
}

/** `open`: calls use the next service; `failing`: the last request failed; `healthy`: it was answered. */
export type ServiceHealth = 'healthy' | 'failing' | 'open' | 'untried';

export function healthOf({ openCircuits, lastFault, lastSuccessMs }: ServiceNotes): ServiceHealth {
  if (openCircuits > 0) return 'open';
  if (lastFault !== null && lastFault.atMs > (lastSuccessMs ?? 0)) return 'failing';
  return lastSuccessMs === null ? 'untried' : 'healthy';
}
