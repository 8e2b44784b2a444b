// POST /organizations/telephony-configs/{id}/examine: looks for everything that could keep calls over a PBX
// from working. Not part of the reference's API.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Finding, Pbx } from '../../telephony/provider/pbx.ts';
import type { TelephonyProvider } from '../../telephony/provider/provider.ts';
import { FailureLimiter } from '../auth/attempt-limit.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { idInPath } from '../http/values.ts';
import { configurationOf } from './configuration-routes.ts';

/** Longer than all checks of an examination together may take; proxies wait for 60 s. */
const EXAMINATION_MS_MAX = 55_000;
/** Concurrent checks, of all organizations. Each holds a few channels of a PBX. */
const EXAMINATIONS_MAX = 10;
/** Of one organization, and of all: more is a search for hosts and ports, or a burden for a PBX. */
const OF_ORGANIZATION = { attemptsMax: 30, windowMs: 600_000 };
const OF_ALL = { attemptsMax: 300, windowMs: 600_000 };
/** The checks that connect, in the doctor's keys. */
const CONNECTING: readonly string[] = ['http', 'tls', 'user'];
/** Numbers whose way through the dialplan is looked at. */
const NUMBERS_MAX = 50;

const finding = z
  .object({
    key: z.string().describe('What was examined; stable.'),
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
  .meta({ id: 'TelephonyExamination' });

export function telephonyExaminationRoute(api: Api, deps: ApiDeps): void {
  /** Configurations that are being examined. */
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
        summary: 'Examine a PBX',
        description:
          'Examines the PBX of a configuration, with a test of its audio, in up to a minute.',
        params: z.object({ config_id: idInPath }),
        response: {
          200: examination,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'PROVIDER_NOT_BUILT',
            'EXAMINATION_UNSUPPORTED',
            'EXAMINATION_RUNNING',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const stored = await configurationOf(deps, organizationId, request.params.config_id);
      const pbx = pbxOf(deps.providerByName(stored.provider), stored.provider);
      if (running.has(stored.id)) throw new GatewayError('EXAMINATION_RUNNING');
      if (running.size >= EXAMINATIONS_MAX) {
        throw new GatewayError('QUEUE_FULL', { queue: 'examinations' });
      }
      ofOrganization.count(organizationId);
      ofAll.count('all');
      running.add(stored.id);
      const deadline = deadlineSignal(deps.clock, EXAMINATION_MS_MAX, 'examination');
      try {
        const numbers = await deps.store.telephony.listNumbers(stored.id);
        const active = numbers.filter(({ isActive }) => isActive).slice(0, NUMBERS_MAX);
        const findings = await pbx.examine(
          { organizationId, configurationId: stored.id, credentials: stored.credentials },
          {
            numbers: active.map(({ address }) => address),
            publicUrl: deps.publicUrl,
            log: deps.log,
          },
          deadline.signal,
        );
        const ok = findings.every(({ verdict }) => verdict !== 'fail');
        if (!deps.access.isSignUpOpen || isAsterisk(findings)) return { ok, findings };
        deps.log.info({ configurationId: stored.id, findings }, 'PBX not found by an examination');
        return { ok, findings: [...findings.filter(isOfAddress), NO_ASTERISK] };
      } finally {
        deadline.done();
        running.delete(stored.id);
      }
    },
  );
}

/** While anyone may sign up, all that is not an Asterisk with this user looks alike: an examination that named closed
 *  ports, silent hosts and other services would be a port scanner. */
const NO_ASTERISK: Finding = {
  key: 'connection',
  title: 'Connection',
  verdict: 'fail',
  message: 'No Asterisk answers at the address with this user and password.',
  advice:
    "Check address, port, http.conf and ari.conf from a machine that reaches the PBX; the gateway's log has the details.",
};

/** Its user was accepted, or nothing was connected to. */
function isAsterisk(findings: readonly Finding[]): boolean {
  return findings
    .filter(({ key }) => CONNECTING.includes(key))
    .every(({ verdict }) => verdict === 'pass' || verdict === 'warn');
}

function isOfAddress({ key }: Finding): boolean {
  return key === 'address';
}

/** Throws PROVIDER_NOT_BUILT, EXAMINATION_UNSUPPORTED. */
function pbxOf(provider: TelephonyProvider | undefined, name: string): Pbx {
  if (provider === undefined) throw new GatewayError('PROVIDER_NOT_BUILT', { provider: name });
  if ('pbx' in provider) return provider.pbx;
  throw new GatewayError('EXAMINATION_UNSUPPORTED', { provider: name });
}
