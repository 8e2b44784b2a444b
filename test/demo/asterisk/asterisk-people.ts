// The people on an Asterisk's telephones in the demo: they ring the gateway's number, or are rung by it. The
// Asterisk is a simulated one, or the one at an address. Both have a context `pbx-in` that hands every number
// to an application: that of the call's variable TARGET, else `gw`, which is ours (asterisk §1).

import { type FakeAsterisk, startAsterisk } from '../../fakes/asterisk/fake-asterisk.ts';
import { type Account, AriSession, ask, idOf } from '../../fakes/asterisk/scenarios/ari-session.ts';
import type { CallerLine } from '../caller.ts';
import type { PersonReport } from '../person.ts';
import { AsteriskLine } from './asterisk-line.ts';
import { holdLine } from './asterisk-person.ts';

const APP = 'gw';
const ANSWER_MS_MAX = 30_000;

export class AsteriskPeople {
  readonly #account: Account;
  readonly #session: AriSession;
  /** Null: it is a real one. */
  readonly #simulated: FakeAsterisk | null;

  private constructor(account: Account, session: AriSession, simulated: FakeAsterisk | null) {
    this.#account = account;
    this.#session = session;
    this.#simulated = simulated;
  }

  /** `url`: `http://user:password@host:port`; empty for a simulated Asterisk of our own. */
  static async start(url: string): Promise<AsteriskPeople> {
    const simulated = url === '' ? await startAsterisk({ app: APP }) : null;
    const { username, password, origin } = new URL(url || 'http://gw:gwsecret@host');
    const account = { url: simulated?.url ?? origin, user: username, password };
    await ask(account, { method: 'GET', path: 'asterisk/info' });
    const session = await AriSession.open(account, APP);
    return new AsteriskPeople(account, session, simulated);
  }

  /** With the login, for the gateway's configuration. */
  get url(): string {
    const { url, user, password } = this.#account;
    return url.replace('://', `://${user}:${password}@`);
  }

  stop(): void {
    this.#session.close();
    void this.#simulated?.stop();
  }

  /** Rings the gateway: `app` is its Stasis application. */
  async ring(call: {
    from: string;
    to: string;
    app: string;
    lines: readonly CallerLine[];
    onLine: (line: CallerLine) => void;
  }): Promise<PersonReport> {
    const channelId = `demo-call-${crypto.randomUUID()}`;
    const query = {
      endpoint: `Local/${call.to.replace('+', '')}@pbx-in/n`,
      app: APP,
      appArgs: 'person',
      callerId: call.from,
      channelId,
      timeout: String(ANSWER_MS_MAX / 1_000),
    };
    const body = { variables: { ['__TARGET']: call.app } };
    const { status } = await this.#session.ask('POST', 'channels', query, body);
    if (status !== 200) throw new Error(`Asterisk refused to dial: ${status}`);
    await this.#session.event('StasisStart', channelId);
    return await this.#hold(channelId, call);
  }

  /** Waits until the gateway rings a number, and answers. */
  async awaitRing(call: {
    to: string;
    lines: readonly CallerLine[];
    onLine: (line: CallerLine) => void;
  }): Promise<PersonReport> {
    const number = call.to.replace('+', '');
    const channelId = await new Promise<string>((resolve) => {
      this.#session.onEvent((event) => {
        const args = event['args'];
        const isMeant = Array.isArray(args) && args[0] === 'inbound' && args[1] === number;
        if (event.type === 'StasisStart' && isMeant) resolve(idOf(event));
      });
    });
    return await this.#hold(channelId, call);
  }

  async #hold(
    channelId: string,
    call: { lines: readonly CallerLine[]; onLine: (line: CallerLine) => void },
  ): Promise<PersonReport> {
    const line = await AsteriskLine.open(this.#account, this.#session, channelId);
    const simulated = this.#simulated;
    const flushes = simulated === null ? () => 0 : () => simulated.flushesAgainst(channelId);
    return await holdLine(line, { ...call, flushes });
  }
}
