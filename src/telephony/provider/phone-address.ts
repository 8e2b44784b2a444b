// Phone addresses in one comparable form: `+` and digits, a SIP URI, or an extension of a PBX; and the form that is
// dialled. The rule of every number: of starts, contact files, transfers and stored numbers. A provider's request
// format is TelephonyProvider.formatAddress.
// Source: contract §4.3; trunk prefixes and lengths from libphonenumber's metadata; SIP URIs from RFC
// 3261, 19.1.4 and 25.1, without the default port; tel URIs from RFC 3966.

import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min';
import type { AddressType, PhoneNumber } from '../../model/telephony.ts';

export interface NormalAddress {
  normalized: string;
  type: AddressType;
}

/** Longest address, as the API accepts it. */
const ADDRESS_MAX = 255;
/** Fewest and most digits of a number with its country code (E.164, 6.2). */
const DIGITS_MIN = 8;
const DIGITS_MAX = 15;
/** Longest trunk prefix that may stand between the country code and the number, as in `+44 (0)20`. */
const TRUNK_DIGITS_MAX = 3;
/** Longest number of an emergency or short-number service, such as 911, 112 and 116117. */
const SHORT_DIGITS_MAX = 6;

/** What people and files put between the groups of a number (also the separators of RFC 3966, 5.1.1). */
const FILLERS = /[\s()./\u2010-\u2015\u2212-]/g;
/** Marks that cannot be seen: directions of writing, zero-width characters. */
const UNSEEN = /\p{Cf}/gu;
const TEL = /^tel:([^;]+)((?:;[^;]*)*)$/i;
/** A number whose country is the default of numbers without `+`. */
type Region = { defaultCountry: CountryCode } | { defaultCallingCode: string };

/** The comparable form of `raw`. `countryCode` (ISO 3166, two letters) completes a national number; without it,
 *  bare digits are an international number. Undefined if it is empty, too long, has control characters, or is an
 *  invalid SIP or tel URI. */
export function normalizeAddress(
  raw: string,
  countryCode: string | null,
): NormalAddress | undefined {
  const text = textOf(raw);
  if (text === undefined) return undefined;
  if (/^sips?:/i.test(text)) return sipAddress(text);
  if (/^tel:/i.test(text)) return telAddress(text, countryCode);
  const compact = compactOf(text);
  const digits = /^\+?(\d+)$/.exec(compact)?.[1];
  const country = countryCode?.toUpperCase();
  const region =
    country !== undefined && isSupportedCountry(country) ? { defaultCountry: country } : undefined;
  const number = digits === undefined ? undefined : e164(compact, digits, region);
  if (number !== undefined) return { normalized: number, type: 'pstn' };
  return { normalized: text.toLowerCase(), type: 'sip_extension' };
}

export interface DialRules {
  /** Whether the far side has extensions, as a PBX or a SIP trunk has: then what is not a number is dialled as it is
   *  written, and the far side's dialplan completes national numbers. */
  hasExtensions: boolean;
  /** The caller's number in its comparable form, whose country completes a number without `+`; null without one. */
  callerId: string | null;
}

/** The address to dial, or why `raw` cannot be dialled, as a sentence about "it". Only the provider knows whether it
 *  is in use. */
export function dialledAddress(
  raw: string,
  { hasExtensions, callerId }: DialRules,
): { to: string } | { reason: string } {
  const address = normalizeAddress(raw, null);
  if (address === undefined) return { reason: NOT_A_NUMBER };
  if (address.type === 'sip_uri') return { to: hasExtensions ? raw.trim() : address.normalized };
  const compact = compactOf(raw.trim());
  if (/^(?:\+|tel:)/i.test(compact)) return international(address);
  if (hasExtensions) {
    if (compact === '') return { reason: NOT_A_NUMBER };
    return { to: /^[\d*#]+$/.test(compact) ? compact : raw.trim() };
  }
  if (/^[\d*#]+$/.test(compact)) return national(compact, callerId);
  return { reason: NOT_A_NUMBER };
}

const FORM = 'send + and the country code with 8 to 15 digits, or a SIP URI';
const NOT_A_NUMBER = `it is not a telephone number: ${FORM}, or over a PBX an extension`;
const WRONG_LENGTH = `a telephone number has 8 to 15 digits with its country code: ${FORM}`;
const SHORT = 'emergency and short numbers are not called over this provider';
const NO_COUNTRY = `it has no country code, and is no number in the country of the caller id: ${FORM}`;
const UNKNOWN_COUNTRY = `no country has its country code: ${FORM}`;

/** A number that is written with `+`. Numbering plans are not checked: they change, and a wrong number costs one
 *  failed call. */
function international({ type, normalized }: NormalAddress): { to: string } | { reason: string } {
  if (type === 'pstn') {
    const parsed = parsePhoneNumberFromString(normalized, { extract: false });
    if (parsed === undefined) return { reason: UNKNOWN_COUNTRY };
    return parsed.number.length > DIGITS_MIN ? { to: normalized } : { reason: WRONG_LENGTH };
  }
  return { reason: /^(?:\+[\d\s().-]*|tel:.*)$/.test(normalized) ? WRONG_LENGTH : NOT_A_NUMBER };
}

/** A number without `+`, in the country of the caller id. */
function national(compact: string, callerId: string | null): { to: string } | { reason: string } {
  if (compact.length <= SHORT_DIGITS_MAX || /[*#]/.test(compact)) return { reason: SHORT };
  const number = e164(compact, compact, callerId === null ? undefined : regionOf(callerId));
  const isComplete =
    number !== undefined &&
    parsePhoneNumberFromString(number, { extract: false })?.isPossible() === true;
  return isComplete ? { to: number } : { reason: NO_COUNTRY };
}

/** The region of a number with its country code. Several countries share `+1` and `+7`: numbers that none of them uses
 *  have the code only. */
function regionOf(number: string): Region | undefined {
  const parsed = number.startsWith('+') ? parsePhoneNumberFromString(number) : undefined;
  if (parsed === undefined || parsed.isNonGeographic()) return undefined;
  const { country, countryCallingCode } = parsed;
  if (country !== undefined) return { defaultCountry: country };
  return { defaultCallingCode: countryCallingCode };
}

/** Whether `raw` is a number of unknown country: bare digits without `00`, and no `countryCode`. */
export function lacksCountry(raw: string, countryCode: string | null): boolean {
  const compact = compactOf(raw.trim());
  if (countryCode !== null || !/^\d+$/.test(compact)) return false;
  const isInternational = compact.startsWith('00') && isNumberLength(compact.slice(2));
  return isNumberLength(compact) && !isInternational;
}

function textOf(raw: string): string | undefined {
  const text = raw.replace(UNSEEN, '').trim();
  return text === '' || text.length > ADDRESS_MAX || /\p{Cc}/u.test(text) ? undefined : text;
}

/** Without what stands between the groups; full-width characters as their plain ones. */
function compactOf(text: string): string {
  return text.normalize('NFKC').replace(UNSEEN, '').replace(FILLERS, '');
}

function isNumberLength(digits: string): boolean {
  return digits.length >= DIGITS_MIN && digits.length <= DIGITS_MAX;
}

/** `+` and digits, or undefined if it cannot be a complete number: then it is an extension. */
function e164(compact: string, digits: string, region: Region | undefined): string | undefined {
  if (compact.startsWith('+')) return withoutTrunkPrefix(digits);
  if (digits.startsWith('00')) return withoutTrunkPrefix(digits.slice(2));
  if (region !== undefined && digits.length <= DIGITS_MAX) {
    const parsed = parsePhoneNumberFromString(digits, region);
    const complete = parsed?.isPossible() === true ? parsed.number.slice(1) : undefined;
    if (complete !== undefined && isNumberLength(complete)) return `+${complete}`;
  }
  return isNumberLength(digits) ? `+${digits}` : undefined;
}

/** A number with its country code, without the `0` of `+44 (0)20`, which is dialled inside the country only. */
function withoutTrunkPrefix(digits: string): string | undefined {
  if (digits.length < DIGITS_MIN || digits.length > DIGITS_MAX + TRUNK_DIGITS_MAX) return undefined;
  const parsed = parsePhoneNumberFromString(`+${digits}`);
  const plain = parsed?.isPossible() === true ? parsed.number.slice(1) : digits;
  return isNumberLength(plain) ? `+${plain}` : undefined;
}

function sipAddress(text: string): NormalAddress | undefined {
  const normalized = sipUriForm(text);
  return normalized === undefined ? undefined : { normalized, type: 'sip_uri' };
}

/** A tel URI: a number with `+`, or a local one whose `phone-context` is the prefix of such. */
function telAddress(text: string, countryCode: string | null): NormalAddress | undefined {
  const [, number = '', parameters = ''] = TEL.exec(text) ?? [];
  if (number === '' || /;ext=/i.test(parameters)) return undefined;
  const context = /;phone-context=(\+[\d.()-]+)/i.exec(parameters)?.[1];
  const whole = number.startsWith('+') || context === undefined ? number : `${context}${number}`;
  const address = normalizeAddress(whole, countryCode);
  return address?.type === 'pstn' ? address : undefined;
}

/** The active number for an address of a PBX; undefined if there is none. A PBX sends it as in its dialplan: an
 *  extension, or a number with or without its country code. */
export function calledNumberOf<N extends PhoneNumber>(
  dialled: string,
  numbers: readonly N[],
): N | undefined {
  const active = numbers.filter(({ isActive }) => isActive);
  const asItIs = normalizeAddress(dialled, null)?.normalized;
  const exact = active.find(({ addressNormalized }) => addressNormalized === asItIs);
  if (exact !== undefined) return exact;
  const countries = new Set(active.flatMap(({ countryCode }) => countryCode ?? []));
  const inCountry = new Map(
    [...countries].map((country) => [country, normalizeAddress(dialled, country)?.normalized]),
  );
  return active.find(
    ({ countryCode, addressNormalized }) =>
      countryCode !== null && inCountry.get(countryCode) === addressNormalized,
  );
}

const SIP =
  /^(sips?):(?:([^\s@<>"]+)@)?(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?(;[^\s<>"?]*)?(\?[^\s<>"]*)?$/i;
const defaultPort: Readonly<Record<string, string>> = { sip: '5060', sips: '5061' };
const ESCAPED = /%[0-9a-f]{2}/gi;
/** Characters that mean the same with and without an escape (RFC 3986, 2.3). */
const UNRESERVED = /[A-Za-z0-9._~-]/;

/** Equal for URIs that address the same: the user keeps its case, other parts do not depend on it; parameters and
 *  headers are in one order. Undefined for what is not a SIP URI. */
function sipUriForm(text: string): string | undefined {
  const parts = SIP.exec(text);
  if (parts === null) return undefined;
  const [, scheme = '', user, host = '', port, parameters = '', headers = ''] = parts;
  const lowerScheme = scheme.toLowerCase();
  const at = user === undefined ? '' : `${unescaped(user)}@`;
  const shownPort = port === undefined || port === defaultPort[lowerScheme] ? '' : `:${port}`;
  const shownParameters = inOrder(parameters.slice(1).toLowerCase(), ';');
  const shownHeaders = inOrder(headers.slice(1), '&');
  return [
    `${lowerScheme}:${at}${host.toLowerCase()}${shownPort}`,
    shownParameters === '' ? '' : `;${shownParameters}`,
    shownHeaders === '' ? '' : `?${shownHeaders}`,
  ].join('');
}

function inOrder(list: string, separator: string): string {
  const parts = list.split(separator).filter((part) => part !== '');
  return parts.map(unescaped).sort().join(separator);
}

/** Without escapes that have no effect; the digits of the others are capitals. */
function unescaped(text: string): string {
  return text.replace(ESCAPED, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return UNRESERVED.test(character) ? character : escaped.toUpperCase();
  });
}
