// What must be true after the trial, whatever was killed when: checked from the provider's ledger of calls,
// and from the gateway's own rows. Every broken rule is one line.

import type { LedgerCall } from './simulated-callees.ts';

export interface AttemptRow {
  phoneNumber: string;
  number: number;
  state: string;
  outcome: string | null;
  callId: string | null;
}

export interface ContactRow {
  phoneNumber: string;
  state: string;
}

export interface Evidence {
  /** Provider's calls by number, oldest first. */
  callsTo: (phoneNumber: string) => readonly LedgerCall[];
  contacts: readonly ContactRow[];
  /** Ordered by contact and number. */
  attempts: readonly AttemptRow[];
  /** Calls that a contact may get. */
  callsMax: number;
}

export interface Verdict {
  broken: string[];
  facts: Record<string, number>;
}

const RETRIED = new Set(['busy', 'no_answer', 'voicemail', 'interrupted']);

const told: Record<LedgerCall['fate'], string> = {
  answered: 'answered',
  voicemail: 'voicemail',
  busy: 'busy',
  'no-answer': 'no_answer',
  failed: 'failed',
};

export function judge({ callsTo, contacts, attempts, callsMax }: Evidence): Verdict {
  const broken: string[] = [];
  const facts: Record<string, number> = {};
  const byNumber = grouped(attempts);
  for (const { phoneNumber, state } of contacts) {
    const own = byNumber.get(phoneNumber) ?? [];
    const calls = callsTo(phoneNumber);
    const left = state === 'done' || state === 'failed' ? [] : [`left ${state}`];
    const faults = [
      ...left,
      ...callFaults(own, calls, callsMax),
      ...dueFaults(own, callsMax),
      ...lineFaults(own, calls),
    ];
    broken.push(...faults.map((fault) => `${phoneNumber}: ${fault}`));
    const found = [
      `contacts ${state}`,
      ...(calls.length === 0 ? ['contacts never rung'] : []),
      ...(calls.length > callsMax ? ['contacts rung too often'] : []),
      ...own.flatMap((attempt) => factsOf(attempt, calls)),
    ];
    for (const fact of found) facts[fact] = (facts[fact] ?? 0) + 1;
  }
  return { broken, facts };
}

function grouped(attempts: readonly AttemptRow[]): Map<string, AttemptRow[]> {
  const byNumber = new Map<string, AttemptRow[]>();
  for (const attempt of attempts) {
    const own = byNumber.get(attempt.phoneNumber);
    if (own === undefined) byNumber.set(attempt.phoneNumber, [attempt]);
    else own.push(attempt);
  }
  return byNumber;
}

function factsOf(attempt: AttemptRow, calls: readonly LedgerCall[]): string[] {
  const call = calls.find(({ sid }) => sid === attempt.callId);
  const facts = [`attempts ${attempt.outcome}`];
  if (call !== undefined && attempt.outcome !== told[call.fate]) {
    facts.push(`${call.fate} told as ${attempt.outcome}`);
  }
  return facts;
}

/** Rung at least once, and not too often. A provider with a list can say of each call what became of it. */
function callFaults(
  own: readonly AttemptRow[],
  calls: readonly LedgerCall[],
  callsMax: number,
): string[] {
  return [
    ...(calls.length === 0 ? ['never rung'] : []),
    ...(calls.length > callsMax ? [`rung ${calls.length} times, ${callsMax} are allowed`] : []),
    ...own.flatMap(({ number, outcome, callId }) =>
      callId === null ? [`attempt ${number} (${outcome}) has no call`] : [],
    ),
    ...own.flatMap(({ number, outcome }) =>
      outcome === 'unknown' ? [`attempt ${number} is unknown, though there is a list`] : [],
    ),
  ];
}

/** Exactly the attempts that its outcomes make due. */
function dueFaults(own: readonly AttemptRow[], callsMax: number): string[] {
  if (own.length === 0) return ['never attempted'];
  const due = attemptsDue(own, callsMax);
  const faults = own.flatMap(({ number, state }, index) => [
    ...(number === index + 1 ? [] : [`attempt ${number} stands in place ${index + 1}`]),
    ...(state === 'ended' ? [] : [`attempt ${number} is ${state}`]),
  ]);
  if (due === own.length) return faults;
  const [last, problem] = due > own.length ? [own.length, 'no attempt'] : [due, 'an attempt'];
  const { number, outcome } = own[last - 1] ?? { number: 0, outcome: 'nothing' };
  return [...faults, `${problem} after ${outcome} in attempt ${number}`];
}

/** How many attempts there must be, by their outcomes. */
function attemptsDue(own: readonly AttemptRow[], callsMax: number): number {
  const last = own.findIndex(
    ({ number, outcome }) => !RETRIED.has(outcome ?? '') || number >= callsMax,
  );
  return last < 0 ? own.length + 1 : last + 1;
}

/** At most one call at a time, and none that the gateway does not know of. */
function lineFaults(own: readonly AttemptRow[], calls: readonly LedgerCall[]): string[] {
  const faults: string[] = [];
  const known = own.flatMap(({ callId }) => (callId === null ? [] : [callId]));
  if (new Set(known).size < known.length) faults.push('one call counts for two attempts');
  calls.forEach(({ sid, endedAt, reply }, index) => {
    const next = calls[index + 1];
    if (endedAt === undefined) faults.push(`${sid} is still up`);
    else if (next !== undefined && next.placedAt < endedAt) faults.push('two calls at a time');
    if (!known.includes(sid)) faults.push(`${sid} (${reply}) belongs to no attempt`);
  });
  return faults;
}

/** The most of them in any window, `windowMs` long. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let first = 0;
  let most = 0;
  sorted.forEach((time, last) => {
    while (time - (sorted[first] ?? 0) >= windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  });
  return most;
}

/** The most calls that were up at once. */
export function mostAtOnce(calls: Iterable<LedgerCall>): number {
  const steps: { at: number; step: number }[] = [];
  for (const { placedAt, endedAt } of calls) {
    steps.push({ at: placedAt, step: 1 }, { at: endedAt ?? Number.POSITIVE_INFINITY, step: -1 });
  }
  steps.sort((a, b) => a.at - b.at || a.step - b.step);
  let up = 0;
  let most = 0;
  for (const { step } of steps) {
    up += step;
    most = Math.max(most, up);
  }
  return most;
}
