// Routes of examination calls below /organizations/telephony-configs/{id}: a short call over a hosted provider that
// shows step by step what works, and its capture. Not part of the reference's API.

import { z } from 'zod';
import type { ExaminationCalls } from '../../call/examination/examination-calls.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { FailureLimiter } from '../auth/attempt-limit.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath } from '../http/path-parameters.ts';
import { idIn } from '../http/values.ts';
import { finding } from './examination-routes.ts';

/** Examination calls of one organization: each rings a telephone and costs money. */
const OF_ORGANIZATION = { attemptsMax: 10, windowMs: 600_000 };
const NUMBER_CHARACTERS_MAX = 255;

export interface ExaminationRouteDeps {
  examinations: Pick<ExaminationCalls, 'start' | 'report' | 'hangUp' | 'capture'>;
}

const PATH = '/organizations/telephony-configs/:config_id/examination-calls';
const common = { tags: ['telephony'], security: keyRequired };
const ofConfiguration = z.object({ config_id: configurationIdInPath });
const ofCall = z.object({
  config_id: configurationIdInPath,
  call_id: z.string().max(64).describe('The `id` that `startExaminationCall` answered.'),
});

const report = z
  .object({
    id: z.string(),
    state: z.enum(['running', 'ended']),
    ok: z.boolean().describe('Nothing has failed so far.'),
    steps: z.array(
      finding.extend({ at_ms: z.int().describe('Milliseconds since the dial.') }).meta({
        id: 'ExaminationStep',
      }),
    ),
  })
  .meta({ id: 'ExaminationCall', description: 'The call and its steps so far.' });

type Report = NonNullable<ReturnType<ExaminationRouteDeps['examinations']['report']>>;

export function examinationCallRoutes(api: Api, deps: ApiDeps & ExaminationRouteDeps): void {
  startRoute(api, deps);
  reportRoutes(api, deps);
  captureRoute(api, deps);
}

function startRoute(api: Api, { examinations, clock }: ApiDeps & ExaminationRouteDeps): void {
  const limiter = new FailureLimiter(clock, OF_ORGANIZATION);
  api.post(
    PATH,
    {
      schema: {
        ...common,
        operationId: 'startExaminationCall',
        summary: 'Examine a configuration by a call',
        description:
          'Rings a telephone over a configuration of a hosted provider for up to 30 s and speaks for up to 35 s; the provider charges for it. A built-in agent speaks, is interrupted, sends two keys and asks for one. Ask for its steps at least every 20 s: the call is hung up otherwise.',
        params: ofConfiguration,
        body: z.object({
          phone_number: z
            .string()
            .min(1)
            .max(NUMBER_CHARACTERS_MAX)
            .meta({
              description:
                'The telephone that rings, with `+` and country code; somebody must answer it.',
              examples: ['+14155550100'],
            }),
          from_phone_number_id: idIn
            .nullish()
            .describe(
              "`id` of the phone number that is the caller id. Default: the configuration's default caller id, else any of its active numbers.",
            ),
        }),
        response: {
          200: report,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'CONFIGURATION_NOT_READY',
            'CALLER_ID_NOT_FOUND',
            'PROVIDER_NOT_BUILT',
            'NUMBER_NOT_DIALABLE',
            'EXAMINATION_CALL_UNSUPPORTED',
            'EXAMINATION_CALL_RUNNING',
            'PUBLIC_URL_UNFIT',
            'CALL_LIMIT_REACHED',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { phone_number: phoneNumber, from_phone_number_id: from } = request.body;
      limiter.count(organizationId);
      const configurationId = request.params.config_id;
      const wish = { organizationId, configurationId, phoneNumber };
      return onWire(await examinations.start({ ...wish, fromPhoneNumberId: from ?? null }));
    },
  );
}

function reportRoutes(api: Api, { examinations }: ExaminationRouteDeps): void {
  const response = { 200: report, ...faults('EXAMINATION_CALL_NOT_FOUND') };
  api.get(
    `${PATH}/:call_id`,
    {
      schema: {
        ...common,
        operationId: 'getExaminationCall',
        summary: 'Get the steps of an examination call',
        description:
          'What was found so far, in order. A call is kept for ten minutes after its end.',
        params: ofCall,
        response,
      },
    },
    async (request) =>
      onWire(found(examinations.report(callOf(principalOf(request), request.params)))),
  );
  api.post(
    `${PATH}/:call_id/hang-up`,
    {
      schema: {
        ...common,
        operationId: 'hangUpExaminationCall',
        summary: 'Hang up an examination call',
        description: 'Ends it before its time; the steps that were not reached are skipped.',
        params: ofCall,
        response,
      },
    },
    async (request) => {
      const of = callOf(principalOf(request), request.params);
      examinations.hangUp(of);
      return onWire(found(examinations.report(of)));
    },
  );
}

function captureRoute(api: Api, { examinations }: ExaminationRouteDeps): void {
  api.get(
    `${PATH}/:call_id/capture`,
    {
      schema: {
        ...common,
        operationId: 'getExaminationCapture',
        summary: 'Get the capture of an examination call',
        description:
          'The traffic between the provider and the gateway, one JSON object a line, without credentials, signatures, numbers and host names. For bug reports, and as a fixture of tests.',
        params: ofCall,
        response: {
          200: {
            description: 'JSON lines.',
            content: { 'application/x-ndjson': { schema: z.string() } },
          },
          ...faults('EXAMINATION_CALL_NOT_FOUND', 'EXAMINATION_CALL_UNFINISHED'),
        },
      },
    },
    async (request, reply) => {
      const of = callOf(principalOf(request), request.params);
      if (found(examinations.report(of)).isRunning) {
        throw new GatewayError('EXAMINATION_CALL_UNFINISHED');
      }
      return reply.type('application/x-ndjson').send(examinations.capture(of) ?? '');
    },
  );
}

function callOf(
  { organizationId }: ReturnType<typeof principalOf>,
  { config_id: configurationId, call_id: id }: z.infer<typeof ofCall>,
): { organizationId: string; configurationId: string; id: string } {
  return { organizationId, configurationId, id };
}

/** Throws EXAMINATION_CALL_NOT_FOUND. */
function found(known: Report | undefined): Report {
  if (known === undefined) throw new GatewayError('EXAMINATION_CALL_NOT_FOUND');
  return known;
}

function onWire({ id, isRunning, isFaultless, steps }: Report): z.infer<typeof report> {
  return {
    id,
    state: isRunning ? 'running' : 'ended',
    ok: isFaultless,
    steps: steps.map(({ atMs, ...step }) => ({ ...step, at_ms: atMs })),
  };
}
