// Faults of recognisers by chance: one row for each of the kinds that a service may have, with how often it is drawn.

import type { SttFaults } from '../fakes/services/stt-server.ts';
import type { Draws } from './draws.ts';

interface Row {
  weight: number;
  draw(draws: Draws): SttFaults;
}

const refusal = (status: number, headers?: Record<string, string>) => ({
  weight: 1,
  draw: () => ({
    refuse: { status, body: '{"message":"refused"}', ...(headers && { headers }) },
  }),
});
const atMs = (draws: Draws): number => draws.between(0, 12_000);
const CODES = [1000, 1001, 1006, 1008, 1011, 1012, 1013, 3005, 4001, 4008] as const;
const FRAME_BYTES = 15_000_000;

const ROWS = {
  'late connection': { weight: 4, draw: (d) => ({ connectDelayMs: d.between(200, 5_000) }) },
  'refused, 401': refusal(401),
  'refused, 402': refusal(402),
  'refused, 403': refusal(403),
  'refused, 429': refusal(429, { 'retry-after': '2' }),
  'refused, 500': { ...refusal(500), weight: 3 },
  'refused, 503': { ...refusal(503), weight: 3 },
  'reset connection': { weight: 3, draw: () => ({ isReset: true }) },
  'late ready': { weight: 3, draw: () => ({ ready: 'late' }) },
  'never ready': { weight: 3, draw: () => ({ ready: 'never' }) },
  mute: { weight: 4, draw: (d) => ({ muteAtMs: atMs(d) }) },
  stalled: { weight: 4, draw: (d) => ({ stallAtMs: atMs(d) }) },
  closed: { weight: 8, draw: (d) => ({ close: { atMs: atMs(d), code: d.pick(CODES) } }) },
  'closed at a final': { weight: 6, draw: (d) => ({ closeOnFinalize: d.pick(CODES) }) },
  'no finals': { weight: 3, draw: () => ({ finals: 'never' }) },
  'late finals': { weight: 3, draw: () => ({ finals: 'late' }) },
  'doubled finals': { weight: 3, draw: () => ({ finals: 'twice' }) },
  'empty finals': { weight: 2, draw: () => ({ finals: 'empty' }) },
  'shrinking partials': { weight: 3, draw: () => ({ partials: 'shrink' }) },
  'revised partials': { weight: 3, draw: () => ({ partials: 'revise' }) },
  malformed: { weight: 3, draw: (d) => ({ send: { atMs: atMs(d), data: '{"type":' } }) },
  unknown: {
    weight: 3,
    draw: (d) => ({ send: { atMs: atMs(d), data: '{"type":"Novelty","message_type":"x"}' } }),
  },
  binary: { weight: 2, draw: (d) => ({ send: { atMs: atMs(d), data: new Uint8Array(400) } }) },
  'huge message': {
    weight: 0.2,
    draw: (d) => ({ send: { atMs: atMs(d), data: `"${'x'.repeat(FRAME_BYTES)}"` } }),
  },
  'longest session': { weight: 4, draw: (d) => ({ sessionMsMax: d.between(1_000, 20_000) }) },
} satisfies Record<string, Row>;

export type SttFaultName = keyof typeof ROWS;

export const STT_FAULTS = Object.keys(ROWS) as SttFaultName[];

/** One fault of these, by its weight. */
export function drawSttFault(
  draws: Draws,
  names: readonly SttFaultName[],
): { name: string; faults: SttFaults } {
  const rows = names.map((name) => ({ name, row: ROWS[name] as Row }));
  const whole = rows.reduce((sum, { row }) => sum + row.weight, 0);
  let left = (draws.between(0, 1_000_000) / 1_000_000) * whole;
  for (const { name, row } of rows) {
    left -= row.weight;
    if (left <= 0) return { name, faults: row.draw(draws) };
  }
  return { name: 'none', faults: {} };
}
