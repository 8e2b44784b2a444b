// The PBX of the real-PBX run: writes the files that Asterisk's own configuration includes, reloads them over ARI, and
// asks what its channels do. The files of a mode are those that `patchbay asterisk config` prints.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type AdminMode, type AdminPlan, adminPlan } from '../../src/cli/asterisk-files.ts';
import { type Account, ask, type Reply } from '../fakes/asterisk/scenarios/ari-session.ts';
import { until } from './waiting.ts';

/** Files that Asterisk's own must include, and the module that reads each. */
export const INCLUDED = {
  'extensions.conf': 'pbx_config.so',
  'pjsip.conf': 'res_pjsip.so',
  'websocket_client.conf': 'res_websocket_client.so',
  'ari.conf': 'res_ari.so',
} as const;

/** The endpoint of callers, which names itself in From. */
export const CALLER = 'patchbay-run';
export const TRUNK = 'patchbay-run-trunk';
/** An endpoint without a contact. */
export const UNREGISTERED = '15599000';
export const CLIENT = 'patchbay-run';
const CONTEXT = 'patchbay-run-in';
/** Extensions of the agents; callers reach all other numbers without the gateway. */
export const OUT_CONTEXT = 'patchbay-run-out';

/** The module that carries a mode's audio. */
export const MEDIA_MODULE: Readonly<Record<AdminMode, string>> = {
  server: 'chan_websocket.so',
  client: 'chan_websocket.so',
  incoming: 'chan_websocket.so',
  audiosocket: 'chan_audiosocket.so',
  rtp: 'chan_rtp.so',
};

export interface ModeFacts {
  mode: AdminMode;
  app: string;
  /** The gateway as Asterisk reaches it. */
  gatewayUrl: string;
  user: string;
  password: string;
  numbers: readonly string[];
  trunkPort: number;
}

const info = z.object({ system: z.object({ version: z.string() }) });
const channel = z.looseObject({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  dialplan: z.looseObject({ app_name: z.string(), context: z.string() }),
});
export type PbxChannel = z.infer<typeof channel>;

export function planOf(facts: ModeFacts): AdminPlan {
  return adminPlan({
    mode: facts.mode,
    gatewayUrl: facts.gatewayUrl,
    user: facts.user,
    password: facts.password,
    app: facts.app,
    clientName: CLIENT,
    context: CONTEXT,
    numbers: facts.numbers,
    bind: '127.0.0.1',
    isTls: false,
  });
}

export class AsteriskSide {
  readonly account: Account;
  readonly #folder: string;

  constructor(account: Account, folder: string) {
    this.account = account;
    this.#folder = folder;
  }

  async version(): Promise<string> {
    const { status, body } = await this.ask('GET', 'asterisk/info');
    if (status !== 200) throw new Error(`GET /ari/asterisk/info: ${status}`);
    return info.parse(body).system.version;
  }

  /** Files of a mode; undefined: those of none. */
  async configure(facts?: ModeFacts): Promise<void> {
    const printed = facts === undefined ? [] : planOf(facts).files;
    const textOf = (name: string) => printed.find((file) => file.name === name)?.text ?? '';
    const own = facts === undefined ? '' : dialplan();
    this.#write('extensions.conf', `${textOf('extensions.conf')}${own}`);
    this.#write('pjsip.conf', facts === undefined ? '' : pjsip(facts.trunkPort));
    this.#write('websocket_client.conf', textOf('websocket_client.conf'));
    // An outbound websocket goes on with the password that its user had before the reload that brought it.
    const [user = ''] = textOf('ari.conf').split(/^(?=\[.*_events\])/m);
    this.#write('ari.conf', user);
    for (const module of Object.values(INCLUDED)) await this.#module('PUT', module);
    if (user === textOf('ari.conf')) return;
    this.#write('ari.conf', textOf('ari.conf'));
    await this.#module('PUT', INCLUDED['ari.conf']);
  }

  /** Whether Asterisk has read the files. */
  async isConfigured(): Promise<boolean> {
    return (await this.ask('GET', `endpoints/PJSIP/${TRUNK}`)).status === 200;
  }

  async untilConnected(app: string, msMax: number): Promise<void> {
    await until('the gateway is connected to the PBX', msMax, async () => {
      return (await this.ask('GET', `applications/${app}`)).status === 200;
    });
  }

  async channels(): Promise<PbxChannel[]> {
    return z.array(channel).parse((await this.ask('GET', 'channels')).body);
  }

  async bridges(): Promise<number> {
    return z.array(z.unknown()).parse((await this.ask('GET', 'bridges')).body).length;
  }

  async unload(module: string): Promise<void> {
    await this.#module('DELETE', module);
  }

  async load(module: string): Promise<void> {
    await this.#module('POST', module);
  }

  async hasModule(module: string): Promise<boolean> {
    return (await this.ask('GET', `asterisk/modules/${module}`)).status === 200;
  }

  ask(method: string, path: string, query?: Record<string, string>): Promise<Reply> {
    return ask(this.account, { method, path, ...(query && { query }) });
  }

  async #module(method: string, module: string): Promise<void> {
    const { status, body } = await this.ask(method, `asterisk/modules/${module}`);
    if (status > 299) {
      throw new Error(`${method} ${module}: ${status} ${JSON.stringify(body)}`);
    }
  }

  /** Asterisk may be another user's. They have passwords, which hold for this run only. */
  #write(name: string, text: string): void {
    const file = join(this.#folder, name);
    writeFileSync(file, `; Written by the real-PBX run.\n${text}`);
    chmodSync(file, 0o644);
  }
}

function dialplan(): string {
  const dial = `exten => _155XXXXXXX,1,Dial(PJSIP/\${EXTEN}@${TRUNK},60)\n same => n,Hangup()`;
  return [
    `[${CALLER}]`,
    `include => ${CONTEXT}`,
    `include => ${OUT_CONTEXT}`,
    '',
    `[${OUT_CONTEXT}]`,
    dial,
    '',
  ].join('\n');
}

function pjsip(trunkPort: number): string {
  const endpoint = (name: string, more: string[]) => [
    `[${name}]`,
    'type = endpoint',
    `context = ${CALLER}`,
    'disallow = all',
    'allow = ulaw',
    'direct_media = no',
    'dtmf_mode = rfc4733',
    ...more,
    '',
  ];
  const aor = (name: string, more: string) => [`[${name}]`, 'type = aor', more, ''];
  return [
    ...endpoint(CALLER, ['callerid = <15550101>']),
    ...endpoint(TRUNK, [`aors = ${TRUNK}`]),
    ...aor(TRUNK, `contact = sip:127.0.0.1:${trunkPort}`),
    ...endpoint(UNREGISTERED, [`aors = ${UNREGISTERED}`]),
    ...aor(UNREGISTERED, 'max_contacts = 1'),
  ].join('\n');
}
