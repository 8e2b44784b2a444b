// The doctor of a hosted provider's configuration: credentials, account, clock, application, numbers, and whether the
// provider reaches this gateway. Changes nothing.

import { codeOf, type GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import {
  type CheckMeans,
  type CheckOutcome,
  fail,
  pass,
  runCheck,
  skip,
  warn,
} from '../provider/check.ts';
import type { AccountReport, ApplicationReport } from '../provider/inspection.ts';
import type { Finding } from '../provider/pbx.ts';
import type { HostedProvider } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import {
  accountOutcome,
  applicationOutcome,
  clockOutcome,
  numberOutcome,
} from './account-checks.ts';
import { addressOutcome, healthOutcome, mediaOutcome } from './address-checks.ts';
import { callHealth, callMedia } from './self-call.ts';

const REQUEST_MS_MAX = 12_000;
/** Deadline for all numbers, one request each. */
const NUMBERS_MS_MAX = 25_000;

export interface ExaminedNumber {
  /** Address as users see it. */
  address: string;
  /** Address in the provider's format. */
  providerAddress: string;
  /** False for a SIP address: most providers route telephone numbers alone. */
  isTelephone: boolean;
  /** Whether an agent answers its calls. */
  isInbound: boolean;
}

export interface HostedExamination {
  provider: HostedProvider;
  configurationId: string;
  credentials: ProviderCredentials;
  /** The field that verifies webhooks, if the credentials lack it. */
  missingWebhookKey: string | undefined;
  /** Active numbers of the configuration, as far as they are examined. */
  numbers: readonly ExaminedNumber[];
  /** Count of further numbers whose calls an agent answers; they are not examined. */
  moreNumbers: number;
  publicUrl: string;
  inboundUrl: string;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

type Look = (signal: AbortSignal) => Promise<CheckOutcome>;

/** Examines one configuration. Never rejects because of a finding. */
export async function examineHosted(examination: HostedExamination): Promise<Finding[]> {
  const [reach, account] = await Promise.all([
    reachFindings(examination),
    accountFindings(examination),
  ]);
  return [...account, ...reach];
}

async function accountFindings(examination: HostedExamination): Promise<Finding[]> {
  const { provider, credentials, clock, numbers } = examination;
  const { inspection } = provider;
  let report: AccountReport | undefined;
  const login = await one(examination, 'credentials', 'Credentials', async (signal) => {
    report = await inspection.account(credentials, signal);
    return pass('The provider accepts them.');
  });
  const findings = [login];
  const add = (key: string, title: string, outcome: CheckOutcome) =>
    findings.push({ key, title, ...outcome });
  if (report === undefined) {
    add('numbers', 'Numbers', skip('Not checked: correct the credentials first.'));
    return findings;
  }
  add('account', 'Account', accountOutcome(report));
  add('clock', 'Clock', clockOutcome(report.dateMs, clock.now()));
  add('webhook_key', 'Webhooks', keyOutcome(examination));
  let application: ApplicationReport | undefined;
  if (inspection.application !== null) {
    const { application: asked } = inspection;
    const finding = await one(examination, 'application', 'Application', async (signal) => {
      application = await asked.read(credentials, signal);
      return applicationOutcome(application, examination.inboundUrl, syncCommand(examination));
    });
    findings.push(finding);
  }
  if (numbers.length === 0) {
    const advice = 'Add a number to the configuration: a call needs a caller id.';
    add('numbers', 'Numbers', warn('The configuration has no active number.', advice));
  }
  if (examination.moreNumbers > 0) {
    const message = `${examination.moreNumbers} more numbers with an agent were not examined.`;
    add('numbers', 'Numbers', skip(message));
  }
  return [...findings, ...(await numberFindings(examination, application))];
}

function keyOutcome({ missingWebhookKey: missing }: HostedExamination): CheckOutcome {
  if (missing === undefined) return pass('The key with which they are verified is stored.');
  return fail(
    `${missing} is missing: every webhook is refused, so that no call is connected.`,
    `Store ${missing}; GET /organizations/telephony-providers/metadata says where it is found.`,
  );
}

/** One finding for each number; a fault of all is one finding. */
async function numberFindings(
  examination: HostedExamination,
  application: ApplicationReport | undefined,
): Promise<Finding[]> {
  const { provider, credentials, inboundUrl } = examination;
  const inbound = examination.numbers.filter(({ isInbound }) => isInbound);
  if (inbound.length === 0) return [];
  const addresses = inbound.map(({ providerAddress }) => providerAddress);
  const { movesNumbers } = provider.inspection;
  const sync = syncCommand(examination);
  let findings: Finding[] = [];
  const all = await one(
    examination,
    'numbers',
    'Numbers',
    async (signal) => {
      const targets = await provider.inspection.targets(credentials, addresses, signal);
      findings = inbound.map(({ address, isTelephone }, i) => ({
        key: 'number',
        title: `Number ${address}`,
        ...numberOutcome(
          { target: targets[i], application, inboundUrl, isTelephone, movesNumbers },
          sync,
        ),
      }));
      return pass('');
    },
    NUMBERS_MS_MAX,
  );
  return all.verdict === 'pass' ? findings : [all];
}

function syncCommand({ configurationId }: HostedExamination): string {
  return `npx patchbay providers sync --config ${configurationId}`;
}

async function reachFindings(examination: HostedExamination): Promise<Finding[]> {
  const { publicUrl } = examination;
  return [
    { key: 'public_url', title: 'Public address', ...addressOutcome(publicUrl) },
    await one(examination, 'reach', 'Reachable', async (signal) =>
      healthOutcome(await callHealth(publicUrl, signal), publicUrl),
    ),
    await one(examination, 'websocket', 'Media sockets', async (signal) =>
      mediaOutcome(await callMedia(publicUrl, signal), publicUrl),
    ),
  ];
}

function one(
  { clock, log, signal }: HostedExamination,
  key: string,
  title: string,
  look: Look,
  msMax = REQUEST_MS_MAX,
): Promise<Finding> {
  return runCheck({ clock, log, signal, advice: ADVICE }, { key, title, msMax }, look);
}

const ADVICE: CheckMeans['advice'] = {
  late: "Is the provider's status page green, and does this machine reach it?",
  error: (error: GatewayError) =>
    remedies.get(codeOf(error) ?? '') ??
    'Try again; then see the log of the gateway at this moment.',
};

const remedies: ReadonlyMap<string, string> = new Map([
  ['PROVIDER_AUTH', "Store the credentials that the provider's console shows now."],
  ['PROVIDER_CAPACITY', 'Try again in a minute: the account has reached its limit of requests.'],
  ['PROVIDER_REFUSED', "The provider's own words say why; its console shows more."],
]);
