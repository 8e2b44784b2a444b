// Checks a provider's account, the application of its inbound calls and its numbers, by the provider's own answers.

import { type CheckOutcome, fail, pass, skip, warn } from '../provider/check.ts';
import type { AccountReport, ApplicationReport, NumberTarget } from '../provider/inspection.ts';

/** Difference between the clocks in milliseconds. Signatures with a time are valid for five minutes. */
const SKEW_MS = { warn: 60_000, fail: 240_000 };

export function accountOutcome({ standing, balance }: AccountReport): CheckOutcome {
  const money =
    balance === null ? '' : `${balance.amount.toFixed(2)} ${balance.currency ?? ''}`.trim();
  if (standing === 'suspended') {
    return fail('The account is not active.', "See the provider's console: it takes no calls.");
  }
  if (balance !== null && balance.amount <= 0) {
    return fail(`The balance is ${money}.`, 'Add credit: calls are refused without.');
  }
  const held = money === '' ? '' : ` Balance: ${money}.`;
  if (standing === 'trial') {
    const advice = 'Upgrade the account: a trial calls verified numbers only, a few at a time.';
    return warn(`It is a trial account.${held}`, advice);
  }
  if (standing === 'active') return pass(`The account is active.${held}`);
  return money === '' ? skip('The provider does not say.') : pass(held.trim());
}

/** Finding about the clocks. `nowMs`: this machine's. */
export function clockOutcome(dateMs: number | null, nowMs: number): CheckOutcome {
  if (dateMs === null) return skip("The provider's answer had no time.");
  const apartMs = nowMs - dateMs;
  const seconds = Math.round(Math.abs(apartMs) / 1_000);
  const message = `This machine's clock is ${seconds} s ${apartMs < 0 ? 'behind' : 'ahead of'} the provider's.`;
  const advice = 'Synchronise the clock with a time server (timedatectl set-ntp true).';
  if (Math.abs(apartMs) >= SKEW_MS.fail) {
    return fail(`${message} Signed webhooks are refused from 300 s on.`, advice);
  }
  return Math.abs(apartMs) >= SKEW_MS.warn ? warn(message, advice) : pass(message);
}

export function applicationOutcome(
  application: ApplicationReport | undefined,
  inboundUrl: string,
  sync: string,
): CheckOutcome {
  if (application === undefined) {
    return fail(
      'The provider has no such application, or the configuration names none.',
      'Clear the application in the configuration and save it: one is made. Or enter one that exists.',
    );
  }
  const { name, inboundUrl: url } = application;
  if (url === inboundUrl) return pass(`${name} sends its calls here.`);
  return fail(
    `${name} sends its calls ${url === null ? 'nowhere' : `to ${url}`}, not to ${inboundUrl}.`,
    `${sync} points it here, with every number on it.`,
  );
}

export interface NumberFacts {
  target: NumberTarget | undefined;
  /** The configuration's application; undefined where it has none. */
  application: Pick<ApplicationReport, 'id' | 'otherId'> | undefined;
  inboundUrl: string;
  /** False for a SIP address. */
  isTelephone: boolean;
  /** As in `ProviderInspection`. */
  movesNumbers: boolean;
}

/** Whether the number's calls reach the configuration. */
export function isRoutedHere(
  facts: Pick<NumberFacts, 'target' | 'application' | 'inboundUrl'>,
): boolean {
  const { target, application, inboundUrl } = facts;
  if (target?.kind === 'url') return target.url === inboundUrl;
  if (target?.kind !== 'application' || application === undefined) return false;
  return target.id === application.id || target.id === application.otherId;
}

/** Description of the destination: "its calls go ...". */
export function targetWords(target: NumberTarget | undefined): string {
  if (target === undefined) return 'not owned by the account';
  if (target.kind === 'url') return target.url;
  if (target.kind === 'application') return `application ${target.id}`;
  return target.kind === 'blocked' ? target.by : 'nowhere';
}

export function numberOutcome(facts: NumberFacts, sync: string): CheckOutcome {
  const { target } = facts;
  if (isRoutedHere(facts)) return pass('Its calls come here.');
  if (target === undefined && !facts.isTelephone) {
    return skip('The provider lists telephone numbers alone; its console says where this leads.');
  }
  if (target === undefined) {
    return fail('The account does not own it.', 'Remove it here, or buy it at the provider.');
  }
  const message = `Its calls go ${target.kind === 'none' ? '' : 'to '}${targetWords(target)}.`;
  const isOthers = target.kind === 'application' && !facts.movesNumbers;
  const advice =
    target.kind === 'blocked' || isOthers
      ? "Remove it from there in the provider's console."
      : `${sync} moves it.`;
  return fail(message, advice);
}
