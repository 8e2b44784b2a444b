// Checks the routing of calls: numbers in the dialplan, the endpoint for outgoing numbers, the context of transfers.
// Asterisk evaluates dialplan functions only for a channel, so the doctor creates one that is never dialled. Source:
// asterisk §1 (minimum), §4.2; func_dialplan and func_pjsip_endpoint.

import { z } from 'zod';
import {
  type CheckOutcome,
  type CheckSubject,
  fail,
  pass,
  skip,
  warn,
} from '../../provider/check.ts';
import type { Finding } from '../../provider/pbx.ts';
import type { MediaWay } from '../media/transport-selection.ts';
import { endpointIn, withoutPassword } from '../rest/dial-string.ts';
import { type CheckContext, check } from './check.ts';
import { linesOutcome } from './dialplan-lines.ts';
import { type Ask, contextsOf, isPlain, openQuestions, placeOf } from './dialplan-questions.ts';
import { numberCallFindings } from './number-calls.ts';
import type { TestApplication } from './test-application.ts';

const LOOK_MS_MAX = 10_000;
const HAS_ENDPOINTS = /^(PJSIP|SIP|IAX2)$/i;
const NUMBERS: CheckSubject = { key: 'numbers', title: 'Numbers' };
const LINES: CheckSubject = { key: 'lines', title: 'Dialplan lines' };
const OUTBOUND: CheckSubject = { key: 'outbound', title: 'Outbound' };
const TRANSFER: CheckSubject = { key: 'transfer', title: 'Transfers' };
/** Numbers that are looked up. */
const NUMBERS_MAX = 10;
const NO_FUNCTION = 'The dialplan cannot be asked without func_dialplan.so.';

const endpoint = z.looseObject({ state: z.string().catch('unknown') });

export async function dialplanFindings(
  context: CheckContext,
  testApp: TestApplication,
  way: MediaWay,
): Promise<Finding[]> {
  const questions = openQuestions(testApp);
  const { ask } = questions;
  const made = await check(context, { ...NUMBERS, msMax: LOOK_MS_MAX }, async (signal) =>
    (await questions.open(signal)) ? pass('') : warn(NO_FUNCTION, 'module load func_dialplan.so.'),
  );
  const lookAt = (
    subject: CheckSubject,
    look: (asked: Ask, signal: AbortSignal) => Promise<CheckOutcome>,
  ) =>
    check(context, { ...subject, msMax: LOOK_MS_MAX }, (signal) => {
      if (made.verdict === 'fail') {
        return Promise.resolve(skip(`The dialplan cannot be asked: ${made.message}`));
      }
      return look(ask(signal), signal);
    });
  const findings = [
    made.verdict === 'warn'
      ? made
      : await lookAt(NUMBERS, (asked, signal) => numbersOutcome(context, asked, signal)),
    await lookAt(LINES, (asked, signal) => linesOutcome(context, way, asked, signal)),
    await lookAt(OUTBOUND, (asked, signal) => outboundOutcome(context, asked, signal)),
  ];
  const transferContext = context.account.transfer_context;
  if (transferContext !== '')
    findings.push(await lookAt(TRANSFER, (asked) => transferOutcome(transferContext, asked)));
  if (context.calls !== undefined) {
    const isAskable = made.verdict === 'pass';
    findings.push(
      ...(await numberCallFindings(context, { testApp, way }, isAskable ? ask : undefined)),
    );
  }
  questions.close();
  return findings;
}

async function numbersOutcome(
  { client, numbers, account }: CheckContext,
  ask: Ask,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const line = `exten => NUMBER,1,Stasis(${account.app},inbound,\${EXTEN})`;
  if (numbers.length === 0) {
    return warn(
      'The configuration has no active number: callers reach no agent.',
      'Add the numbers that callers dial, as the dialplan has them, each with its agent. Outbound calls need none.',
    );
  }
  const contexts = await contextsOf(client, ask, { signal });
  if (contexts.size === 0) return skip('No PJSIP endpoint has a context that could be checked.');
  const found: string[] = [];
  const lost: string[] = [];
  for (const number of numbers.filter(isPlain).slice(0, NUMBERS_MAX)) {
    const place = await placeOf(number, contexts, ask);
    if (place === undefined) lost.push(number);
    else found.push(`${number} in ${place.context}`);
  }
  if (lost.length === 0) {
    return pass(
      `The dialplan knows ${found.join(', ')}. Whether they go to Stasis(${account.app}) only calls show: patchbay doctor --numbers.`,
    );
  }
  return warn(
    `No context of an endpoint (${[...contexts].join(', ')}) knows ${lost.join(', ')}${found.length === 0 ? '' : `; known: ${found.join(', ')}`}.`,
    `If callers dial them: ${line} in the context of the trunk, then dialplan reload. Providers send numbers with or without +; the configuration accepts both.`,
  );
}

async function outboundOutcome(
  { account, client }: CheckContext,
  ask: Ask,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const template = withoutPassword(account.dial_template);
  const { technology, name } = endpointIn(template) ?? { technology: '', name: '' };
  const target = /\{(number|e164)\}/.test(name) ? '' : name;
  if (technology.toLowerCase() === 'local') {
    const exists = await ask(`DIALPLAN_EXISTS(${target})`);
    if (exists === undefined) return skip(`${template}: ${NO_FUNCTION}`);
    if (exists !== '1') {
      return fail(
        `${template}: the dialplan has no context ${target || '(none is named)'}.`,
        'Name the context that dials out: Local/{number}@from-internal/n on FreePBX. dialplan show lists them.',
      );
    }
    if (!/\/[a-z]*n[a-z]*$/.test(template)) {
      return warn(
        `${template} lacks /n at its end.`,
        'Without it Asterisk takes the Local channel out of the call, and its audio with it: add /n.',
      );
    }
    return pass(`Numbers are dialled by the context ${target}.`);
  }
  if (target === '') {
    return warn(
      `${template} dials an endpoint of the number's own name: telephones of this PBX.`,
      'For calls to the outside name the trunk: "dial_template": "PJSIP/{number}@TRUNK".',
    );
  }
  if (!HAS_ENDPOINTS.test(technology)) {
    return skip(`${template}: Asterisk has no endpoints of ${technology} that could be looked up.`);
  }
  const path = `endpoints/${encodeURIComponent(technology)}/${encodeURIComponent(target)}`;
  const { status, body } = await client.send({ action: 'look', method: 'GET', path }, signal);
  if (status === 404) {
    return fail(
      `${template}: there is no endpoint ${target} (${technology}).`,
      'pjsip show endpoints lists them; correct dial_template.',
    );
  }
  const state = endpoint.safeParse(body).data?.state ?? 'unknown';
  if (state === 'offline') {
    return warn(
      `${target} is offline: calls to the outside fail.`,
      `pjsip show endpoint ${target}, pjsip show registrations: is the provider reachable, is the registration refused?`,
    );
  }
  return pass(`Numbers are dialled at ${target} (${state}).`);
}

async function transferOutcome(context: string, ask: Ask): Promise<CheckOutcome> {
  const exists = await ask(`DIALPLAN_EXISTS(${context})`);
  if (exists === undefined) return skip(`${context}: ${NO_FUNCTION}`);
  if (exists === '1') return pass(`The dialplan has the context ${context}.`);
  return fail(
    `The dialplan has no context ${context}: transferred callers are lost.`,
    'Correct transfer_context, or add the context; then dialplan reload.',
  );
}
