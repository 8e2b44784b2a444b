// Which of a PBX's numbers a caller has dialled. A PBX says it as its dialplan has it: an extension, or a
// number with or without its country.

import type { PhoneNumber } from '../../model/telephony.ts';
import { normalizeAddress } from '../../telephony/provider/phone-address.ts';

/** The active number; undefined if there is none. */
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
