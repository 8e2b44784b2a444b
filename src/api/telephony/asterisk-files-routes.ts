// GET /organizations/telephony-configs/{id}/asterisk-files: what belongs into the files of the PBX of a configuration, as
// `patchbay asterisk config` prints it. The password is a placeholder: the gateway does not reveal it. Extension.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  ADMIN_ADDRESS,
  ADMIN_MODES,
  ADMIN_NAME,
  ADMIN_NUMBER,
  type AdminMode,
  type AdminWishes,
  type AdminWord,
  adminPlan,
  freePbxPlan,
  PASSWORD_WANTED,
  storedWishes,
} from '../../telephony/registry/asterisk-files.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath } from '../http/path-parameters.ts';
import { queryFlag } from '../http/values.ts';
import { configurationOf } from './configuration-routes.ts';

const NUMBERS_MAX = 100;

const query = z.object({
  mode: z
    .enum(ADMIN_MODES)
    .optional()
    .describe(
      'Transport of audio and events. `server`: the gateway connects to Asterisk for both. `client`: Asterisk connects to the gateway for audio. `incoming`: Asterisk connects for both. `audiosocket`, `rtp`: audio over these. Default: that of the configuration.',
    ),
  context: z
    .string()
    .max(80)
    .default('patchbay-in')
    .describe('Context of the dialplan for the calls: letters, digits, and `_ . -`.'),
  numbers: z
    .string()
    .max(4_000)
    .default('')
    .describe(
      'Extensions for the agent, separated by commas. Default: every number of the context.',
    ),
  bind: z.string().max(45).default('0.0.0.0').describe("IP address of Asterisk's HTTP server."),
  freepbx: queryFlag
    .default(false)
    .describe('True: for FreePBX, whose own files for additions are then named.'),
});

const asteriskFiles = z
  .object({
    mode: z.enum(ADMIN_MODES),
    files: z.array(
      z.object({
        name: z.string().describe('Below `/etc/asterisk`.'),
        text: z.string(),
      }),
    ),
    shell: z.array(z.string()).describe("Commands for the PBX's shell, before the files change."),
    reloads: z
      .array(z.string())
      .describe("Commands afterwards, for Asterisk's command line, for FreePBX in its shell."),
    steps: z.array(z.string()).describe('Steps in the web interface of FreePBX.'),
    checks: z
      .array(z.object({ command: z.string(), shows: z.string() }))
      .describe("Commands of Asterisk's command line, and what each shows if all is well."),
    configuration: z
      .record(z.string(), z.string())
      .describe('Values that the configuration must have for these files.'),
    password_placeholder: z
      .string()
      .describe('Stands in the files for `app_password`, which the gateway does not reveal.'),
  })
  .meta({ id: 'AsteriskFilesResponse', description: "What belongs into the PBX's files." });

export function asteriskFilesRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/organizations/telephony-configs/:config_id/asterisk-files',
    {
      schema: {
        tags: ['telephony'],
        security: keyRequired,
        operationId: 'getAsteriskFiles',
        summary: 'Get the files of a PBX',
        description:
          "Contents of an Asterisk's configuration files for calls over this configuration, with the commands around them.",
        params: z.object({ config_id: configurationIdInPath }),
        querystring: query,
        response: {
          200: asteriskFiles,
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'CONFIGURATION_NOT_ASTERISK',
            'ASTERISK_WORD_INVALID',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { provider, credentials } = await configurationOf(
        deps,
        organizationId,
        request.params.config_id,
      );
      if (provider !== 'ari') throw new GatewayError('CONFIGURATION_NOT_ASTERISK', { provider });
      const wishes = wishesOf(deps.publicUrl, credentials, request.query);
      const plan = adminPlan(wishes);
      return {
        mode: wishes.mode,
        ...(request.query.freepbx ? freePbxPlan(plan, wishes) : plan),
        password_placeholder: PASSWORD_WANTED,
      };
    },
  );
}

/** Throws ASTERISK_WORD_INVALID. */
function wishesOf(
  gatewayUrl: string,
  credentials: unknown,
  { mode, context, numbers, bind }: z.infer<typeof query>,
): AdminWishes {
  const stored = storedWishes(credentials);
  const wanted = numbers.split(',').map((number) => number.trim());
  return {
    mode: mode ?? modeOf(stored.mode),
    gatewayUrl,
    user: checked('app_name', stored.user, ADMIN_NAME),
    password: PASSWORD_WANTED,
    app: checked('stasis_app_name', stored.app, ADMIN_NAME),
    clientName: checked('ws_client_name', stored.client, ADMIN_NAME),
    context: checked('context', context, ADMIN_NAME),
    numbers: wanted
      .filter((number) => number !== '')
      .slice(0, NUMBERS_MAX)
      .map((number) => checked('numbers', number, ADMIN_NUMBER)),
    bind: checked('bind', bind, ADMIN_ADDRESS),
    isTls: stored.isTls,
    endpoint: stored.endpoint,
  };
}

function modeOf(stored: string): AdminMode {
  return ADMIN_MODES.find((each) => each === stored) ?? 'server';
}

function checked(field: string, word: string, rule: AdminWord): string {
  const { pattern, characters, lengthMin, lengthMax } = rule;
  if (pattern.test(word) && word.length >= lengthMin && word.length <= lengthMax) return word;
  throw new GatewayError('ASTERISK_WORD_INVALID', { field, characters, lengthMin, lengthMax });
}
