// Schema of an edge's `data`, and its meaning without a language model: unconditional, or the fallback. Source:
// contract §5.3; `phrases`, `dtmf` and `slot` are ours, for calls without a model.

import { z } from 'zod';

const PHRASES_MAX = 50;

export const edgeData = z.object({
  label: z.string({ error: 'label is required' }).regex(/\S/, { error: 'label is required' }),
  condition: z
    .string({ error: 'condition is required' })
    .regex(/\S/, { error: 'condition is required' })
    .describe('When to take this edge. `always`: as soon as the node has spoken.'),
  transition_speech: z.string().optional(),
  transition_speech_type: z.enum(['text', 'audio']).default('text'),
  transition_speech_recording_id: z.string().optional(),
  phrases: z
    .array(z.string().min(1).max(120))
    .max(PHRASES_MAX)
    .optional()
    .describe('Scripted mode: what the caller may say to go this way.'),
  dtmf: z
    .string()
    .regex(/^[0-9*#]$/, { error: 'dtmf must be one key of the keypad' })
    .optional()
    .describe('Scripted mode: the key that goes this way.'),
  value: z.string().optional().describe('Scripted mode: what `slot` takes in place of the phrase.'),
  slot: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Scripted mode: with `phrases`, the variable that takes the phrase which was said; alone, a ' +
        "slot of the node whose value, once known, goes this way (`all`: all of the node's slots).",
    ),
});
export type EdgeData = z.infer<typeof edgeData>;

/** Conditions that are always true. */
const ALWAYS = new Set(['always', 'always.']);

/** Labels of an edge that is taken when the caller was not understood. */
const FALLBACK = new Set([
  'fallback',
  'otherwise',
  'else',
  'default',
  'no match',
  'not understood',
]);

/** An edge's data, validated or not. */
interface EdgeHints {
  label?: unknown;
  condition?: unknown;
  phrases?: unknown;
  dtmf?: unknown;
  slot?: unknown;
}

/** Whether the edge is taken as soon as the node has spoken: its condition is `always` and it has no phrase or key. */
export function isUnconditional(data: EdgeHints): boolean {
  return !hasHints(data) && ALWAYS.has(plain(data.condition));
}

/** Whether the edge is taken when the caller was not understood for the last time: its label is `fallback` or
 *  similar. */
export function isFallback(data: EdgeHints): boolean {
  return !hasHints(data) && FALLBACK.has(plain(data.label));
}

function hasHints(data: EdgeHints): boolean {
  const { phrases, dtmf, slot } = data;
  return (Array.isArray(phrases) && phrases.length > 0) || isSet(dtmf) || isSet(slot);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function plain(value: unknown): string {
  return typeof value === 'string'
    ? value
        .trim()
        .toLowerCase()
        .replace(/[_\s]+/g, ' ')
    : '';
}
