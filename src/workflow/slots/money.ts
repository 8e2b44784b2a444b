// An amount of money: "twenty five dollars and fifty cents", "$25.50", "fifty cents". The value is the amount as a
// number; the currency appears only in the confirmation.

import { cardinalAt } from './cardinal.ts';
import { type SlotMatch, standsAlone } from './tokens.ts';

interface Currency {
  many: string;
  one: string;
  part: string;
}

const DOLLARS: Currency = { many: 'dollars', one: 'dollar', part: 'cents' };
const EUROS: Currency = { many: 'euros', one: 'euro', part: 'cents' };
const POUNDS: Currency = { many: 'pounds', one: 'pound', part: 'pence' };
const CURRENCIES = [DOLLARS, EUROS, POUNDS];
const SIGNS = new Map([
  ['$', DOLLARS],
  ['€', EUROS],
  ['£', POUNDS],
]);
const PARTS = new Set(['cent', 'cents', 'pence', 'penny', 'p']);

interface Amount {
  value: number;
  currency: Currency | undefined;
  to: number;
}

export function findMoney(words: readonly string[]): SlotMatch[] {
  const found: SlotMatch[] = [];
  for (let at = 0; at < words.length; ) {
    const amount = amountAt(words, at);
    if (amount !== undefined) found.push(written(amount, at));
    at = amount?.to ?? at + 1;
  }
  return found;
}

function amountAt(words: readonly string[], at: number): Amount | undefined {
  const sign = SIGNS.get(words[at] ?? '');
  const number = cardinalAt(words, sign === undefined ? at : at + 1);
  if (number === undefined) return undefined;
  if (sign !== undefined) return { ...number, currency: sign };
  const word = words[number.to] ?? '';
  if (PARTS.has(word)) {
    return { value: number.value / 100, currency: undefined, to: number.to + 1 };
  }
  const currency = CURRENCIES.find(({ many, one }) => word === many || word === one);
  if (currency === undefined) {
    return standsAlone(words, at, number.to) ? { ...number, currency } : undefined;
  }
  return withPart(words, { value: number.value, currency, to: number.to + 1 });
}

/** The amount with its part: "and fifty cents", or "fifty" after a whole amount. */
function withPart(words: readonly string[], amount: Amount): Amount {
  const joined = words[amount.to] === 'and';
  const part = cardinalAt(words, joined ? amount.to + 1 : amount.to);
  if (part === undefined || part.value >= 100 || !Number.isInteger(part.value)) return amount;
  const named = PARTS.has(words[part.to] ?? '');
  if (joined && !named) return amount;
  return {
    ...amount,
    value: Math.round(amount.value * 100 + part.value) / 100,
    to: named ? part.to + 1 : part.to,
  };
}

function written({ value, currency, to }: Amount, from: number): SlotMatch {
  const whole = Math.floor(value);
  const part = Math.round((value - whole) * 100);
  if (currency === undefined) return { value, spoken: String(value), from, to };
  const name = whole === 1 ? currency.one : currency.many;
  const spoken = part === 0 ? `${whole} ${name}` : `${whole} ${name} and ${part} ${currency.part}`;
  return { value, spoken, from, to };
}
