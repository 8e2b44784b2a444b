// Which upgrades belong to another gateway, and which of them is asked.

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ForeignUpgrades } from '../../src/cluster/foreign-upgrades.ts';
import { FakePbx } from '../fakes/call/fake-pbx.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { mediaSigner } from '../fakes/media-tokens.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const MEDIA = '/api/v1/telephony/ws/';
const TRANSFER = `3-w${'0'.repeat(32)}`;

function media(label: string, id: string): string {
  const subject = { id, workflowId: '1', organizationId: '2' };
  const token = mediaSigner.sign(subject, { label, worker: 1, untilMs: 1 }, Buffer.alloc(16));
  return `${MEDIA}1/2/${id}/${token}`;
}

function gateway() {
  const clock = new FakeClock();
  const at = { reads: 0, passed: [] as [string, string][], isReached: true, isAway: false };
  const pbx = new FakePbx(clock, () => {
    throw new Error('nobody calls');
  });
  pbx.pbx.applicationOf = ({ app }) => String(app);
  const row = (name: string) => ({ name, url: `http://${name}`, version: '1' });
  const holder = (app: string, node: string) => ({
    node,
    provider: pbx.name,
    credentials: { app },
  });
  const foreign = new ForeignUpgrades({
    store: {
      gateways: {
        living: async () => {
          at.reads += 1;
          if (at.isAway) throw new Error('away');
          return [row('gw1'), row('gw2')];
        },
      },
      leases: {
        claim: async () => [],
        release: async () => undefined,
        callsElsewhere: async () => ({ processes: [], callIds: [] }),
        holders: async () => [
          holder('theirs', 'gw2#1'),
          holder('ours', 'gw1#1'),
          holder('lost', 'gw3#1'),
        ],
      },
    },
    pbxs: [pbx],
    signer: mediaSigner,
    label: 'gw1',
    hasApplication: (application) => application === 'here',
    splices: {
      pass: async ({ request }, url) => {
        at.passed.push([request.url ?? '', url]);
        return at.isReached;
      },
    },
    clock,
    log: quietLog().log,
  });
  /** `own`, or the URL of the gateway that got it. */
  const ask = async (url: string, more: object = {}) => {
    const request = Object.assign(new IncomingMessage(new Socket()), {
      url,
      method: 'GET',
      ...more,
    });
    const socket = new PassThrough();
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes;
    });
    let result: string | undefined;
    at.passed.length = 0;
    foreign.takeUpgrades(() => {
      result = 'own';
    })(request, socket, Buffer.alloc(0));
    const isAtOnce = result !== undefined;
    await settle();
    const status = /^HTTP\/1.1 (\d+)/.exec(answer)?.[1];
    return { to: result ?? status ?? at.passed[0]?.[1], isAtOnce };
  };
  return { at, ask, clock };
}

describe('an upgrade', () => {
  it.each([
    ['media of a call of this gateway', media('gw1', '3'), 'own', true],
    ['media of a call of another one, which is adopted', media('gw2', '3'), 'own', true],
    ['media of a transfer of this one', media('gw1', TRANSFER), 'own', true],
    ['media of a transfer of another one', media('gw2', TRANSFER), 'http://gw2', false],
    ['media of a transfer of a dead one', media('gw3', TRANSFER), 'own', false],
    ['media with a forged token', media('gw2', TRANSFER).replace(/.$/, '_'), 'own', true],
    ['a PBX of this one', '/api/v1/telephony/pbx/here', 'own', true],
    ['a PBX of another one', '/api/v1/telephony/pbx/theirs?x=1', 'http://gw2', false],
    ['media of a PBX of another one', `${MEDIA}ari/theirs`, 'http://gw2', false],
    ['a PBX that is about to connect here', '/api/v1/telephony/pbx/ours', 'own', false],
    ['a PBX of a dead one', '/api/v1/telephony/pbx/lost', 'own', false],
    ['a PBX that nobody knows', '/api/v1/telephony/pbx/nobody', 'own', false],
    ['media of a PBX without its application', `${MEDIA}ari`, 'own', true],
    ['anything else', '/unknown', 'own', true],
  ])('for %s goes to its gateway', async (_what, url, to, isAtOnce) => {
    expect(await gateway().ask(url)).toEqual({ to, isAtOnce });
  });

  it.each([
    ['a browser whose call waits in another one, which is adopted', '3', 'own', true],
    ['a browser that returns to its call in another one', '3-return', 'http://gw2', false],
  ])('of %s goes to its gateway', async (_what, id, to, isAtOnce) => {
    const token = media('gw2', id).split('/').at(-1);
    const headers = { 'sec-websocket-protocol': `patchbay.v1, token.${id}.1.2.${token}` };
    const asked = await gateway().ask('/api/v1/web-calls/media', { headers });
    expect(asked).toEqual({ to, isAtOnce });
  });

  it('that was passed on before stays here', async () => {
    const headers = { 'x-patchbay-spliced': 'gw2' };
    const { ask } = gateway();
    expect((await ask(media('gw2', TRANSFER), { headers })).to).toBe('own');
    expect((await ask(media('gw2', TRANSFER), { method: 'POST' })).to).toBe('own');
  });

  it('is answered 503 if its gateway is not reached, and here while the store is away', async () => {
    const { at, ask, clock } = gateway();
    at.isReached = false;
    expect((await ask(media('gw2', TRANSFER))).to).toBe('503');
    at.isReached = true;
    at.isAway = true;
    clock.advance(2_000);
    expect((await ask(media('gw2', TRANSFER))).to).toBe('own');
    at.isAway = false;
    expect((await ask(media('gw2', TRANSFER))).to).toBe('http://gw2');
  });

  it('of many does not read the store each time', async () => {
    const { at, ask, clock } = gateway();
    for (let nth = 0; nth < 10; nth += 1) await ask(`/api/v1/telephony/pbx/guess-${nth}`);
    expect(at.reads).toBe(1);
    clock.advance(2_000);
    await ask('/api/v1/telephony/pbx/theirs');
    expect(at.reads).toBe(2);
  });
});
