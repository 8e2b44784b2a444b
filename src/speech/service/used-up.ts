// Detects refusals because the account is used up (quota, credits, funds). Services report this under statuses with
// other meanings: ElevenLabs 401, OpenAI and Sarvam 429, Anthropic 400, Azure and OpenRouter 403. Status 402 needs no
// text.
// Sources: the services' API references and error bodies that their users have reported (November 2026).

import { isObject, parseJson } from '../../std/json.ts';

/** Error codes in the fields of `CODE_KEYS`. */
const CODES =
  /(^|_)(insufficient_(quota|balance|credits?|funds)|payment_required|billing_(error|not_active|hard_limit_reached)|credit_limit)(_error|_exceeded)?$/i;
/** With status 429 it also names a limit of requests or connections. */
const QUOTA_CODE = /^quota_exceeded$/i;
/** Sentences of Anthropic, Azure (free tier), OpenRouter (a key's own limit), xAI, Fireworks and Gemini (prepaid),
 *  which send no code. Each is long enough not to match an agent's words that a service quotes. */
const SENTENCES =
  /credit balance is too low to access the|out of call volume quota|^key limit exceeded|used all available credits or reached|reaching the monthly spending limit|prepayment credits are depleted/i;

/** Reasons of websocket closes: Azure's 1007 (followed by a request number), ElevenLabs' 1002 and 1008. Whole
 *  sentences, as services quote what agents say here too. */
const CLOSE_REASONS =
  /^(quota exceeded\b|this request exceeds your (api key )?quota\b|quota_exceeded$)/i;

const CODE_KEYS = ['code', 'type', 'status', 'error_code', 'err_code', 'error'];
const NESTED_KEYS = ['error', 'detail'];
const DEPTH_MAX = 4;

/** Whether the refusal reports a used-up account. `codes`: the service's codes, in any order. `message`: its text. */
export function saysUsedUp(
  status: number,
  { codes, message }: { codes: readonly string[]; message: string },
): boolean {
  if (status < 400 || status >= 500) return false;
  if (status !== 429 && codes.some((code) => QUOTA_CODE.test(code))) return true;
  return codes.some((code) => CODES.test(code)) || SENTENCES.test(message);
}

/** Whether a service has closed a websocket because the account is used up. */
export function isClosedUsedUp(reason: string): boolean {
  return CLOSE_REASONS.test(reason) || SENTENCES.test(reason);
}

/** Codes in an error body of the usual shapes. */
export function codesIn(text: string): string[] {
  return codesOf(parseJson(text), 0);
}

function codesOf(value: unknown, depth: number): string[] {
  if (depth >= DEPTH_MAX) return [];
  if (Array.isArray(value)) return codesOf(value[0], depth + 1);
  if (!isObject(value)) return [];
  const own = CODE_KEYS.map((key) => value[key]).filter((code) => typeof code === 'string');
  return [...own, ...NESTED_KEYS.flatMap((key) => codesOf(value[key], depth + 1))];
}
