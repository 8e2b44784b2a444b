// Command `patchbay asterisk config`: prints the contents of an Asterisk's configuration files, from the options or
// from a configuration of the gateway.

import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.ts';
import { systemRandom } from '../std/random.ts';
import {
  ADMIN_ADDRESS,
  ADMIN_MODES,
  ADMIN_NAME,
  ADMIN_NUMBER,
  ADMIN_PASSWORD,
  type AdminMode,
  type AdminPlan,
  type AdminWishes,
  type AdminWord,
  adminPlan,
  freePbxPlan,
  PASSWORD_WANTED,
  type StoredWishes,
  storedWishes,
} from '../telephony/registry/asterisk-files.ts';
import { apiKey, askGateway, type CliIo, configurationId, gatewayUrl } from './gateway-client.ts';

const text = { type: 'string' } as const;
export const asteriskOptions = {
  url: text,
  key: text,
  config: text,
  mode: text,
  user: text,
  password: text,
  app: text,
  client: text,
  context: text,
  number: { type: 'string', multiple: true },
  bind: text,
  tls: { type: 'boolean' },
  freepbx: { type: 'boolean' },
} as const;

interface Options {
  url?: string;
  key?: string;
  config?: string;
  mode?: string;
  user?: string;
  password?: string;
  app?: string;
  client?: string;
  context?: string;
  number?: string[];
  bind?: string;
  tls?: boolean;
  freepbx?: boolean;
}

const NUMBERS_MAX = 100;
const PASSWORD_BYTES = 18;
/** Stands in the files until the gateway has returned its own value. */
const APP_WANTED = 'STASIS_APP_NAME';

const stored = z.object({ provider: z.string(), credentials: z.unknown() });

export async function asteriskConfig(options: Options, { env, out }: CliIo): Promise<number> {
  const url = gatewayUrl(options.url ?? env['PATCHBAY_URL']);
  const given: StoredWishes =
    options.config === undefined
      ? { user: 'patchbay', client: 'patchbay', mode: 'server', app: APP_WANTED, isTls: false }
      : await fromConfiguration(options, { url, env });
  const password = options.password ?? env['PATCHBAY_PBX_PASSWORD'];
  const invented =
    options.config === undefined
      ? systemRandom.bytes(PASSWORD_BYTES).toString('hex')
      : PASSWORD_WANTED;
  const wishes: AdminWishes = {
    mode: modeOf(options.mode ?? given.mode),
    gatewayUrl: url,
    user: word('--user', options.user ?? given.user, ADMIN_NAME),
    password: word('--password', password ?? invented, ADMIN_PASSWORD),
    app: word('--app', options.app ?? given.app, ADMIN_NAME),
    clientName: word('--client', options.client ?? given.client, ADMIN_NAME),
    context: word('--context', options.context ?? 'patchbay-in', ADMIN_NAME),
    numbers: numbersOf(options.number ?? []),
    bind: word('--bind', options.bind ?? '0.0.0.0', ADMIN_ADDRESS),
    isTls: options.tls ?? given.isTls,
    endpoint: given.endpoint,
  };
  const plan = adminPlan(wishes);
  const isFreePbx = options.freepbx === true;
  out(
    printed(wishes, isFreePbx ? freePbxPlan(plan, wishes) : plan, {
      isStored: options.config !== undefined,
      isFreePbx,
    }),
  );
  return 0;
}

async function fromConfiguration(
  options: Options,
  { url, env }: { url: string; env: CliIo['env'] },
): Promise<StoredWishes> {
  const key = apiKey(options.key ?? env['PATCHBAY_API_KEY']);
  const path = `/organizations/telephony-configs/${configurationId(options.config)}`;
  const { provider, credentials } = await askGateway({ url, key }, { method: 'GET', path }, stored);
  if (provider !== 'ari') {
    const problem = `that configuration is one of ${provider}, not of Asterisk (ari)`;
    throw new GatewayError('COMMAND_INVALID', { problem });
  }
  return storedWishes(credentials);
}

function modeOf(given: string): AdminMode {
  const mode = ADMIN_MODES.find((each) => each === given);
  if (mode !== undefined) return mode;
  const problem = `--mode is one of ${ADMIN_MODES.join(', ')}, not "${given}"`;
  throw new GatewayError('COMMAND_INVALID', { problem });
}

/** A checked value, which does not show in the error: it may be a password. */
function word(option: string, given: string, rule: AdminWord): string {
  const { pattern, characters, lengthMin, lengthMax } = rule;
  if (!pattern.test(given)) {
    const problem = `${option} has characters that Asterisk's files cannot hold; allowed are ${characters}`;
    throw new GatewayError('COMMAND_INVALID', { problem });
  }
  if (given.length < lengthMin || given.length > lengthMax) {
    const problem = `${option} has ${given.length} characters, and must have ${lengthMin} to ${lengthMax}`;
    throw new GatewayError('COMMAND_INVALID', { problem });
  }
  return given;
}

function numbersOf(given: readonly string[]): string[] {
  if (given.length > NUMBERS_MAX) {
    throw new GatewayError('COMMAND_INVALID', { problem: `at most ${NUMBERS_MAX} numbers` });
  }
  return given.map((number) => word('--number', number, ADMIN_NUMBER));
}

function printed(
  wishes: AdminWishes,
  plan: AdminPlan,
  { isStored, isFreePbx }: { isStored: boolean; isFreePbx: boolean },
): string {
  const parts = plan.files.map(
    ({ name, text: content }) => `;;; /etc/asterisk/${name}\n${content}`,
  );
  const store = [
    `# The configuration at the gateway (PBX is Asterisk's address as the gateway reaches it):`,
    `curl ${wishes.gatewayUrl}/api/v1/organizations/telephony-configs -H "X-API-Key: $PATCHBAY_API_KEY" \\`,
    `  -H 'Content-Type: application/json' -d '${JSON.stringify({
      name: 'Asterisk',
      config: { ...plan.configuration, app_password: wishes.password },
    })}'`,
    `# The answer has "id" and "stasis_app_name": the latter replaces ${APP_WANTED} above, or run this again with --config ID.`,
  ];
  const kept = [
    `# The configuration at the gateway must have: ${JSON.stringify(plan.configuration)}`,
    ...(wishes.password === PASSWORD_WANTED
      ? [`# ${PASSWORD_WANTED}: app_password, which the gateway does not reveal.`]
      : []),
  ];
  return [
    isFreePbx
      ? `; FreePBX, mode ${wishes.mode}. The files are its own for additions: append these lines, they stay when FreePBX writes the others.`
      : `; Mode ${wishes.mode}. A section that a file has already is completed, not written twice.`,
    '',
    ...(isFreePbx ? ["# The PBX's shell, as root (Advanced Settings in the web interface):"] : []),
    ...plan.shell,
    ...(isFreePbx ? [''] : []),
    ...parts,
    isFreePbx ? "# The PBX's shell again:" : "# Asterisk's command line (asterisk -r):",
    ...plan.reloads,
    '',
    ...(isFreePbx ? ['# In the web interface:', ...plan.steps, ''] : []),
    isFreePbx ? '# To look, in asterisk -r:' : '# And there, to look:',
    ...plan.checks.map(({ command, shows }) => `${command}\n    shows ${shows}`),
    '',
    ...(isStored ? kept : store),
    '',
    '# Everything together: npx patchbay doctor --config ID',
    '',
  ].join('\n');
}
