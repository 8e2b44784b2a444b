// The PBX of the real-PBX run: writes the files that Asterisk's own configuration includes, reloads them over ARI, and
// asks what its channels do. The files of a mode are those that `patchbay asterisk config` prints.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type AdminMode,
  type AdminPlan,
  adminPlan,
} from '../../src/telephony/registry/asterisk-files.ts';
import { type Account, ask, type Reply } from '../fakes/asterisk/scenarios/ari-session.ts';
import { until } from './waiting.ts';

/** Files that Asterisk's own must include, and the module that reads each. */
export const INCLUDED = {
  'extensions.conf': 'pbx_config.so',
  'pjsip.conf': 'res_pjsip.so',
  'websocket_client.conf': 'res_websocket_client.so',
  'http.conf': 'http',
  'ari.conf': 'res_ari.so',
} as const;

export type IncludedFile = keyof typeof INCLUDED;

/** The endpoint of callers, which names itself in From. */
export const CALLER = 'patchbay-run';
export const TRUNK = 'patchbay-run-trunk';
/** The endpoint of a telephone that speaks Opus alone. */
export const OPUS_CALLER = 'patchbay-run-opus';
/** A ring group of one telephone. */
export const GROUP_CONTEXT = 'patchbay-run-group';
/** A queue in which nobody answers: it sends callers back to the number that they called. */
export const QUEUE_CONTEXT = 'patchbay-run-queue';
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

/** In the order in which they are read: a section of ari.conf names one of websocket_client.conf. */
const FILES: readonly IncludedFile[] = [
  'extensions.conf',
  'pjsip.conf',
  'websocket_client.conf',
  'http.conf',
  'ari.conf',
];

const info = z.object({ system: z.object({ version: z.string() }) });
const channel = z.looseObject({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  dialplan: z.looseObject({ app_name: z.string(), context: z.string() }),
});
export type PbxChannel = z.infer<typeof channel>;

export function planOf(facts: ModeFacts, clientName = CLIENT): AdminPlan {
  return adminPlan({
    mode: facts.mode,
    gatewayUrl: facts.gatewayUrl,
    user: facts.user,
    password: facts.password,
    app: facts.app,
    clientName,
    context: CONTEXT,
    numbers: facts.numbers,
    bind: '127.0.0.1',
    isTls: false,
  });
}

/** The sections with which Asterisk opens a connection for a second configuration; the ARI user is there. */
export function eventFiles(
  facts: Pick<ModeFacts, 'app' | 'gatewayUrl' | 'user' | 'password'>,
): Record<'websocket_client.conf' | 'ari.conf', string> {
  const wishes = { ...facts, mode: 'incoming', numbers: [], trunkPort: 0 } as const;
  const { files } = planOf(wishes, `${CLIENT}-second`);
  const sectionOf = (name: string): string => {
    const text = files.find((file) => file.name === name)?.text ?? '';
    return text.split(/^(?=\[)/m).find((section) => /^\[.*_events\]/.test(section)) ?? '';
  };
  return {
    'websocket_client.conf': sectionOf('websocket_client.conf'),
    'ari.conf': sectionOf('ari.conf'),
  };
}

export class AsteriskSide {
  readonly account: Account;
  readonly #folder: string;
  /** Texts of the mode's configuration files, by name. */
  readonly #texts = new Map<string, string>();
  #added: IncludedFile[] = [];

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
    const user = withoutConnection(textOf('ari.conf'));
    this.#write('http.conf', '');
    this.#write('ari.conf', user);
    for (const module of Object.values(INCLUDED)) await this.#module('PUT', module);
    if (user !== textOf('ari.conf')) await this.#ariConf(textOf('ari.conf'));
  }

  /** Ends the connection that Asterisk opens, and starts it: `ari shutdown websocket session`, `ari start
   *  outbound-websocket`, by files. */
  async restartConnection(): Promise<void> {
    const text = this.#texts.get('ari.conf') ?? '';
    await this.#ariConf(withoutConnection(text));
    await this.#ariConf(text);
  }

  /** Further lines after those of the mode, until `removeAdded`. */
  async add(more: Partial<Record<IncludedFile, string>>): Promise<void> {
    const names = FILES.filter((name) => more[name] !== undefined);
    this.#added.push(...names);
    for (const name of names) {
      this.#put(name, `${this.#texts.get(name) ?? ''}\n${more[name]}`);
      await this.#module('PUT', INCLUDED[name]);
    }
  }

  async removeAdded(): Promise<void> {
    for (const name of new Set(this.#added.splice(0).reverse())) {
      this.#put(name, this.#texts.get(name) ?? '');
      await this.#module('PUT', INCLUDED[name]);
    }
  }

  /** Further lines that the file has only while `reload` runs: another reload takes them back. */
  async readOnce(name: IncludedFile, more: string, reload: () => Promise<void>): Promise<void> {
    const text = this.#texts.get(name) ?? '';
    this.#put(name, `${text}\n${more}`);
    try {
      await reload();
    } finally {
      this.#put(name, text);
    }
  }

  /** A further file of the run, which Asterisk may read. */
  fileOf(name: string): string {
    return join(this.#folder, name);
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

  async #ariConf(text: string): Promise<void> {
    this.#write('ari.conf', text);
    await this.#module('PUT', INCLUDED['ari.conf']);
  }

  async #module(method: string, module: string): Promise<void> {
    const { status, body } = await this.ask(method, `asterisk/modules/${module}`);
    if (status > 299) {
      throw new Error(`${method} ${module}: ${status} ${JSON.stringify(body)}`);
    }
  }

  #write(name: string, text: string): void {
    this.#texts.set(name, text);
    this.#put(name, text);
  }

  /** Asterisk may be another user's. They have passwords, which hold for this run only. */
  #put(name: string, text: string): void {
    const file = join(this.#folder, name);
    writeFileSync(file, `; Written by the real-PBX run.\n${text}`);
    chmodSync(file, 0o644);
  }
}

/** The sections of ari.conf before that of the connection. */
function withoutConnection(text: string): string {
  return text.split(/^(?=\[.*_events\])/m)[0] ?? '';
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
    `[${GROUP_CONTEXT}]`,
    `exten => _X.,1,Dial(Local/\${EXTEN}@${OUT_CONTEXT}/n)`,
    '',
    `[${QUEUE_CONTEXT}]`,
    'exten => _X.,1,Wait(2)',
    ` same => n,Goto(${CONTEXT},\${CALLERID(dnid)},1)`,
    '',
  ].join('\n');
}

function pjsip(trunkPort: number): string {
  const endpoint = (name: string, more: string[]) => [
    `[${name}]`,
    'type = endpoint',
    `context = ${CALLER}`,
    'disallow = all',
    `allow = ${name === OPUS_CALLER ? 'opus' : 'ulaw'}`,
    'direct_media = no',
    'dtmf_mode = rfc4733',
    ...more,
    '',
  ];
  const aor = (name: string, more: string) => [`[${name}]`, 'type = aor', more, ''];
  return [
    ...endpoint(CALLER, ['callerid = <15550101>']),
    ...endpoint(OPUS_CALLER, ['callerid = <15550102>']),
    ...endpoint(TRUNK, [`aors = ${TRUNK}`]),
    ...aor(TRUNK, `contact = sip:127.0.0.1:${trunkPort}`),
    ...endpoint(UNREGISTERED, [`aors = ${UNREGISTERED}`]),
    ...aor(UNREGISTERED, 'max_contacts = 1'),
  ].join('\n');
}
