// Phone addresses in one comparable form: `+` and digits, a SIP URI, or an extension of a PBX. A provider's request
// format is TelephonyProvider.formatAddress.
// Source: contract §4.3; national prefixes from libphonenumber's metadata; SIP URIs from RFC 3261, 19.1.

import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
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

const FILLERS = /[\s()\u2010-\u2015\u2212-]/g;
const SIP =
  /^(sips?):(?:([^\s@<>"]+)@)?(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?([;?][^\s<>"]*)?$/i;
const defaultPort: Readonly<Record<string, string>> = { sip: '5060', sips: '5061' };

/** The comparable form of `raw`. `countryCode` (ISO 3166, two letters) completes a national number; without it,
 *  bare digits are an international number. Undefined if it is empty, too long, has control characters, or is an
 *  invalid SIP URI. */
export function normalizeAddress(
  raw: string,
  countryCode: string | null,
): NormalAddress | undefined {
  const text = raw.trim();
  if (text === '' || text.length > ADDRESS_MAX || /\p{Cc}/u.test(text)) return undefined;
  if (/^sips?:/i.test(text)) return sipAddress(text);
  const compact = text.replace(FILLERS, '');
  const digits = /^\+?(\d+)$/.exec(compact)?.[1];
  const number = digits === undefined ? undefined : e164(compact, digits, countryCode);
  if (number !== undefined) return { normalized: number, type: 'pstn' };
  return { normalized: text.toLowerCase(), type: 'sip_extension' };
}

/** Whether a call can be placed to it: a number with its country code, bare digits, a SIP URI, or an extension where
 *  the far side has extensions. Only the provider knows whether it is in use. */
export function isDialable(raw: string, { hasExtensions }: { hasExtensions: boolean }): boolean {
  const address = normalizeAddress(raw, null);
  if (address === undefined) return false;
  if (address.type !== 'sip_extension') return true;
  const compact = raw.trim().replace(FILLERS, '');
  if (compact === '' || compact.startsWith('+')) return false;
  return hasExtensions || /^[\d*#]+$/.test(compact);
}

/** Whether `raw` is a number of unknown country: bare digits without `00`, and no `countryCode`. */
export function lacksCountry(raw: string, countryCode: string | null): boolean {
  const compact = raw.trim().replace(FILLERS, '');
  if (countryCode !== null || !/^\d+$/.test(compact)) return false;
  const isInternational = compact.startsWith('00') && isNumberLength(compact.slice(2));
  return isNumberLength(compact) && !isInternational;
}

function isNumberLength(digits: string): boolean {
  return digits.length >= DIGITS_MIN && digits.length <= DIGITS_MAX;
}

/** `+` and digits, or undefined if it cannot be a complete number: then it is an extension. */
function e164(compact: string, digits: string, countryCode: string | null): string | undefined {
  if (compact.startsWith('+')) return isNumberLength(digits) ? `+${digits}` : undefined;
  if (digits.startsWith('00')) {
    const international = digits.slice(2);
    return isNumberLength(international) ? `+${international}` : undefined;
  }
  const country = countryCode?.toUpperCase();
  if (country !== undefined && isSupportedCountry(country) && digits.length <= DIGITS_MAX) {
    const parsed = parsePhoneNumberFromString(digits, country);
    const complete = parsed?.isPossible() === true ? parsed.number.slice(1) : undefined;
    if (complete !== undefined && isNumberLength(complete)) return `+${complete}`;
  }
  return isNumberLength(digits) ? `+${digits}` : undefined;
}

function sipAddress(text: string): NormalAddress | undefined {
  const parts = SIP.exec(text);
  if (parts === null) return undefined;
  const [, scheme = '', user, host = '', port, rest = ''] = parts;
  const lowerScheme = scheme.toLowerCase();
  const at = user === undefined ? '' : `${user}@`;
  const shownPort = port === undefined || port === defaultPort[lowerScheme] ? '' : `:${port}`;
  return {
    normalized: `${lowerScheme}:${at}${host.toLowerCase()}${shownPort}${rest}`,
    type: 'sip_uri',
  };
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
