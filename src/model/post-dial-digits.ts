// Keys that are pressed after a transfer's destination has answered, such as an extension: `+4930123456,,204#`.

/** Keys and pauses at most; longer ones keep the caller waiting. */
export const POST_DIAL_MAX = 60;
/** Half seconds of one `,`, as telephones have it. */
const COMMA = 'wwww';
/** Milliseconds of a key with its pause, and of a `w`. */
const KEY_MS = 200;
const PAUSE_MS = 500;

const DIALLED = /^([^,]*?)\s*,([\d*#a-dw,\s]*)$/i;

/** The address, and the keys with `w` for each half second of pause; empty if there are none. A SIP URI or another text
 *  with commas that are not followed by keys alone is an address. */
export function splitDestination(written: string): { address: string; digits: string } {
  const [, address, tail] = DIALLED.exec(written.trim()) ?? [];
  if (address === undefined || tail === undefined) return { address: written, digits: '' };
  const digits = `,${tail}`.replace(/\s/g, '').replaceAll(',', COMMA).toUpperCase();
  return /[\d*#A-D]/.test(digits)
    ? { address, digits: digits.replaceAll('W', 'w') }
    : { address, digits: '' };
}

/** The address with the keys. */
export function withDigits(address: string, digits: string): string {
  return address === '' || digits === '' ? address : `${address},${digits}`;
}

/** Milliseconds that the keys take. */
export function postDialMs(digits: string): number {
  const pauses = digits.split('w').length - 1;
  return pauses * PAUSE_MS + (digits.length - pauses) * KEY_MS;
}
