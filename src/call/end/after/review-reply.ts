// Parses a model's review of a call leniently: with or without a code fence, with words around it, or with missing
// fields. Unusable parts are dropped; the answer itself is stored too.
// Source: contract §6.3 (QAResult), §8.10.

import { isObject, parseJson } from '../../../std/json.ts';

const TAGS_MAX = 50;
const TAG_CHARACTERS_MAX = 200;
const TEXT_CHARACTERS_MAX = 4_000;
const RAW_CHARACTERS_MAX = 20_000;

export type ReviewTag = string | { tag: string; reason: string };

export interface ReviewReply {
  tags: ReviewTag[];
  summary: string;
  score: number | null;
  overall_sentiment: string | null;
  raw_response: string;
}

/** Parses a review. Never throws: any text gives a result. */
export function readReview(text: string): ReviewReply {
  const fields = objectIn(text);
  const { tags, summary, call_quality_score: score, overall_sentiment: sentiment } = fields;
  return {
    tags: Array.isArray(tags) ? tags.flatMap(tagIn).slice(0, TAGS_MAX) : [],
    summary: typeof summary === 'string' ? summary.slice(0, TEXT_CHARACTERS_MAX) : '',
    score: numberIn(score),
    overall_sentiment:
      typeof sentiment === 'string' ? sentiment.slice(0, TAG_CHARACTERS_MAX) : null,
    raw_response: text.slice(0, RAW_CHARACTERS_MAX),
  };
}

/** Names of the tags, without duplicates. */
export function tagNames(tags: readonly ReviewTag[]): string[] {
  return [...new Set(tags.map((tag) => (typeof tag === 'string' ? tag : tag.tag)))];
}

/** The outermost JSON object in a text; if the text is a list, its first object. */
function objectIn(text: string): Record<string, unknown> {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start < 0 || end < start) return {};
  const value = parseJson(text.slice(start, end + 1)) ?? parseJson(text.trim());
  if (Array.isArray(value)) return value.find(isObject) ?? {};
  return isObject(value) ? value : {};
}

function tagIn(value: unknown): ReviewTag[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [shortTag(value)];
  if (!isObject(value) || typeof value['tag'] !== 'string' || value['tag'].trim() === '') return [];
  const { reason } = value;
  return [
    {
      tag: shortTag(value['tag']),
      reason: typeof reason === 'string' ? reason.slice(0, TEXT_CHARACTERS_MAX) : '',
    },
  ];
}

function shortTag(tag: string): string {
  return tag.trim().slice(0, TAG_CHARACTERS_MAX);
}

/** A number, or a text that holds one: models write both. Null for anything else. */
function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}
