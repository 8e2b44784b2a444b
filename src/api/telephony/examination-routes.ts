// POST /organizations/telephony-configs/{id}/examine: checks everything that could keep calls over a configuration from
// working. Not part of the reference's API.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { examineHosted } from '../../telephony/doctor/hosted-doctor.ts';
import { skip } from '../../telephony/provider/check.ts';
import type { Finding } from '../../telephony/provider/pbx.ts';
import { isPbx, type TelephonyProvider } from '../../telephony/provider/provider.ts';
import { missingWebhookKey } from '../../telephony/registry/configuration.ts';
import { FailureLimiter } from '../auth/attempt-limit.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath } from '../http/path-parameters.ts';
import { configurationOf } from './configuration-routes.ts';
import { hostedNumbers, hostedProviderOf } from './hosted-configuration.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { INBOUND_PATH } from './provider-sync.ts';

/** Deadline of an examination, longer than all its checks together; proxies wait for 60 s. */
const EXAMINATION_MS_MAX = 55_000;
/** Concurrent examinations of all organizations. Each holds a few channels of a PBX. */
const EXAMINATIONS_MAX = 10;
/** Examinations of one organization, and of all: more would be a scan for hosts and ports, or a burden for a PBX. */
const OF_ORGANIZATION = { attemptsMax: 30, windowMs: 600_000 };
const OF_ALL = { attemptsMax: 300, windowMs: 600_000 };
/** Checks that connect, by the doctor's keys. */
const CONNECTING: readonly string[] = ['http', 'tls', 'user'];
/** Numbers whose path through the dialplan is checked, or that are called. */
const NUMBERS_MAX = 50;
/** Permitted context names of Asterisk's dialplan. */
const CONTEXT = /^[A-Za-z0-9_.-]{1,80}$/;

const examinationRequest = z
  .object({
    call_numbers: z
      .boolean()
      .default(false)
      .describe(
        "Of a PBX: also calls every active number of the configuration through the PBX's dialplan. It may ring people where a number does not lead to the gateway; no agent starts.",
      ),
    context: z
      .string()
      .regex(CONTEXT)
      .nullish()
      .describe(
        'Of a PBX: the dialplan context in which calls from outside begin, such as `from-trunk`. Null or left out: the contexts of the PJSIP endpoints.',
      ),
  })
  .meta({ id: 'TelephonyExaminationRequest' });

export const finding = z
  .object({
    key: z.string().describe('Names what was examined, in all versions alike.'),
    title: z.string(),
    verdict: z.enum(['pass', 'warn', 'fail', 'skip']),
    message: z.string().describe('What was seen.'),
    advice: z.string().nullable().describe('What to do.'),
  })
  .meta({ id: 'TelephonyFinding' });

const examination = z
  .object({
    ok: z.boolean().describe('Nothing was found that keeps calls from working.'),
    findings: z.array(finding),
  })
  .meta({ id: 'TelephonyExamination', description: 'What was examined, and how it stands.' });

export function telephonyExaminationRoute(api: Api, deps: ApiDeps): void {
  /** Configurations that are being examined here. */
  const running = new Set<string>();
  const ofOrganization = new FailureLimiter(deps.clock, OF_ORGANIZATION);
  const ofAll = new FailureLimiter(deps.clock, OF_ALL);

  api.post(
    '/organizations/telephony-configs/:config_id/examine',
    {
      schema: {
        tags: ['telephony'],
        security: keyRequired,
        operationId: 'examineTelephonyConfiguration',
        summary: 'Examine a configuration',
        description:
          'Examines what calls over a configuration depend on, in up to a minute. Of a PBX: the connection, with a test of its audio. Of a hosted provider: credentials, account, application, numbers, and whether the public address is reached.',
        params: z.object({ config_id: configurationIdInPath }),
        body: examinationRequest.nullish(),
        response: {
          200: examination,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'PROVIDER_NOT_BUILT',
            'EXAMINATION_RUNNING',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const stored = await configurationOf(deps, organizationId, request.params.config_id);
      const provider = providerOf(deps.providerByName(stored.provider), stored.provider);
      if (running.has(stored.id)) throw new GatewayError('EXAMINATION_RUNNING');
      if (running.size >= EXAMINATIONS_MAX) {
        throw new GatewayError('QUEUE_FULL', { queue: 'examinations' });
      }
      ofOrganization.count(organizationId);
      ofAll.count('all');
      running.add(stored.id);
      const deadline = deadlineSignal(deps.clock, EXAMINATION_MS_MAX, 'examination');
      try {
        const once = { name: `examination ${stored.id}`, msMax: EXAMINATION_MS_MAX };
        return await oneAtATime(deps.store.places, once, async () => {
          if (!isPbx(provider)) {
            const findings = await hostedFindings(deps, stored, deadline.signal);
            return report(request.body?.call_numbers ? [...findings, NOT_CALLED] : findings);
          }
          const numbers = await deps.store.telephony.listNumbers(stored.id);
          const active = numbers.filter(({ isActive }) => isActive).slice(0, NUMBERS_MAX);
          const findings = await provider.pbx.examine(
            { organizationId, configurationId: stored.id, credentials: stored.credentials },
            {
              numbers: active.map(({ address }) => address),
              publicUrl: deps.publicUrl,
              ...(request.body?.call_numbers && {
                calls: { context: request.body.context ?? null },
              }),
              log: deps.log,
            },
            deadline.signal,
          );
          if (!deps.access.isSignUpOpen || isAsterisk(findings)) return report(findings);
          deps.log.info(
            { configurationId: stored.id, findings },
            'PBX not found by an examination',
          );
          const shown = [...findings.filter(isOfAddress), NO_ASTERISK];
          return { ...report(findings), findings: shown };
        });
      } finally {
        deadline.done();
        running.delete(stored.id);
      }
    },
  );
}

/** Finding that stands for everything that is not an Asterisk with this user, while anyone may sign up: an
 *  examination that distinguished closed ports, silent hosts and other services would be a port scanner. */
const NO_ASTERISK: Finding = {
  key: 'connection',
  title: 'Connection',
  verdict: 'fail',
  message: 'No Asterisk answers at the address with this user and password.',
  advice:
    "Check address, port, http.conf and ari.conf from a machine that reaches the PBX; the gateway's log has the details.",
};

const NOT_CALLED: Finding = {
  key: 'calls',
  title: 'Calls to numbers',
  ...skip('Only numbers of a PBX are called.'),
};

/** Whether the user was accepted, or nothing was connected to. */
function isAsterisk(findings: readonly Finding[]): boolean {
  return findings
    .filter(({ key }) => CONNECTING.includes(key))
    .every(({ verdict }) => verdict === 'pass' || verdict === 'warn');
}

function isOfAddress({ key }: Finding): boolean {
  return key === 'address';
}

function report(findings: Finding[]): { ok: boolean; findings: Finding[] } {
  return { ok: findings.every(({ verdict }) => verdict !== 'fail'), findings };
}

async function hostedFindings(
  deps: ApiDeps,
  { id, provider: name, credentials }: TelephonyConfiguration,
  signal: AbortSignal,
): Promise<Finding[]> {
  const provider = hostedProviderOf(deps, name);
  if (provider === undefined) return [];
  const { numbers, more } = await hostedNumbers(deps, id, provider);
  return examineHosted({
    provider,
    configurationId: id,
    credentials,
    signal,
    missingWebhookKey: missingWebhookKey(name, credentials),
    numbers,
    moreNumbers: more,
    publicUrl: deps.publicUrl,
    inboundUrl: deps.publicUrl + INBOUND_PATH,
    clock: deps.clock,
    log: deps.log,
  });
}

/** Throws PROVIDER_NOT_BUILT. */
function providerOf(provider: TelephonyProvider | undefined, name: string): TelephonyProvider {
  if (provider === undefined) throw new GatewayError('PROVIDER_NOT_BUILT', { provider: name });
  return provider;
}
