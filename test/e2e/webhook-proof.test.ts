// Webhooks of strangers at a whole gateway: what a captured signature of Vobiz is good for, which covers no body, and a
// captured nonce of Plivo, before and after the gateway was killed.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ApiClient } from '../demo/api-client.ts';
import { GatewayRig } from '../demo/gateway-rig.ts';
import { inbound } from '../demo/scenario.ts';
import type { HostedCall } from '../fakes/hosted/hosted-call.ts';
import type { HostedFake } from '../fakes/hosted/hosted-fake.ts';
import { hostedRow } from '../fakes/hosted/hosted-rows.ts';
import { plivoDialect, plivoSignature } from '../fakes/plivo/row.ts';
import { vobizDialect } from '../fakes/vobiz/row.ts';

const NUMBERS = { plivo: '+14155550101', vobiz: '+912271264296' } as const;
const CALLER = '+14155550100';
const WAIT_MS_MAX = 30_000;
const TEST_MS_MAX = 120_000;
type Name = keyof typeof NUMBERS;

const rig = new GatewayRig('proof');
const fakes = {} as Record<Name, HostedFake>;
const agents = {} as Record<Name, string>;
let api: ApiClient;

beforeAll(async () => {
  api = await rig.start();
  await api.useOwnKey('Test');
  for (const name of ['plivo', 'vobiz'] as const) {
    const row = hostedRow(name);
    fakes[name] = await row.startFake({ gatewayUrl: rig.gateway.url, numbers: [NUMBERS[name]] });
    const config = row.configuration(fakes[name].baseUrl);
    const configurationId = await api.createConfiguration(name, config, false);
    agents[name] = (await api.createWorkflow(`Agent of ${name}`, inbound.definition)).id;
    await api.addNumber(configurationId, {
      address: NUMBERS[name],
      inbound_workflow_id: agents[name],
    });
  }
}, 90_000);

afterAll(async () => {
  await rig.end();
  for (const fake of Object.values(fakes)) await fake.close();
});

const until = (test: () => unknown) =>
  vi.waitFor(async () => expect(await test()).toBeTruthy(), {
    timeout: WAIT_MS_MAX,
    interval: 100,
  });

/** A call that talks, and its run. */
async function talking(name: Name): Promise<{ call: HostedCall; runId: string }> {
  const before = await api.runIds(agents[name]);
  const call = await fakes[name].placeInboundCall({ from: CALLER, to: NUMBERS[name] });
  await until(() => call.events.some(({ type }) => type === 'stream-started'));
  const after = await api.runIds(agents[name]);
  const [runId = ''] = after.filter((id) => !before.includes(id));
  return { call, runId };
}

async function post(path: string, form: Record<string, string>, headers: Record<string, string>) {
  const response = await fetch(`${rig.gateway.url}/api/v1/telephony/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
    signal: AbortSignal.timeout(WAIT_MS_MAX),
  });
  return { status: response.status, body: await response.text() };
}

const signed = (name: Name, path: string, form: Record<string, string>) =>
  (name === 'plivo' ? plivoDialect : vobizDialect).signed(
    `${rig.gateway.url}/api/v1/telephony/${path}`,
    form,
  );

const hangUp = (call: HostedCall, more: Record<string, string> = {}) => ({
  ['CallUUID']: call.id,
  ['Direction']: 'inbound',
  ['Event']: 'Hangup',
  ['CallStatus']: 'completed',
  ['HangupCauseCode']: '4000',
  ['Duration']: '4711',
  ...more,
});

const stateOf = async (name: Name, runId: string) => {
  const { state, duration } = await api.run(agents[name], runId);
  return { state, duration: duration ?? null };
};

describe('a signature of Vobiz under a forged body', () => {
  it(
    'ends no call that goes on, and leaves what Vobiz says of its end',
    async () => {
      const { call, runId } = await talking('vobiz');
      const path = `vobiz/hangup-callback/${runId}`;
      const forged = hangUp(call);
      const { status } = await post(path, forged, signed('vobiz', path, {}));
      expect(status).toBe(200);
      const account = 'vobiz/hangup-callback';
      const ofAccount = { ...forged, ['ParentAuthID']: vobizDialect.authId };
      expect((await post(account, ofAccount, signed('vobiz', account, {}))).status).toBe(200);
      const ofAgent = `${account}/workflow/${agents.vobiz}`;
      expect((await post(ofAgent, ofAccount, signed('vobiz', ofAgent, {}))).status).toBe(200);
      expect((await post(ofAgent, ofAccount, {})).status).toBe(401);
      expect((await stateOf('vobiz', runId)).state).toBe('running');
      expect(call.isOver).toBe(false);

      call.hangUp();
      await until(async () => (await stateOf('vobiz', runId)).state === 'completed');
      expect((await stateOf('vobiz', runId)).duration).toBeLessThan(120);
    },
    TEST_MS_MAX,
  );

  it(
    'brings no call that Vobiz does not have, names no other call, and is not accepted without a signature',
    async () => {
      const { call, runId } = await talking('vobiz');
      const before = await api.runIds(agents.vobiz);
      const invented = {
        ['CallUUID']: randomUUID(),
        ['Direction']: 'inbound',
        ['Event']: 'StartApp',

        ['CallStatus']: 'ringing',
        ['From']: CALLER,
        ['To']: NUMBERS.vobiz,
      };
      const reply = await post('inbound/run', invented, signed('vobiz', 'inbound/run', {}));
      expect(reply).toMatchObject({ status: 200, body: expect.not.stringContaining('<Stream') });
      expect(await api.runIds(agents.vobiz)).toEqual(before);

      const path = `vobiz/hangup-callback/${runId}`;
      const other = hangUp(call, { ['CallUUID']: randomUUID() });
      expect((await post(path, other, signed('vobiz', path, {}))).status).toBe(200);
      expect((await post(path, hangUp(call), {})).status).toBe(401);
      expect((await post('vobiz/hangup-callback/999999', hangUp(call), {})).status).toBe(401);
      expect((await stateOf('vobiz', runId)).state).toBe('running');
      call.hangUp();
      await until(async () => (await stateOf('vobiz', runId)).state === 'completed');
    },
    TEST_MS_MAX,
  );
});

describe('a nonce of Plivo', () => {
  it(
    'is good for one webhook, also after the gateway was killed; a repeated delivery changes nothing',
    async () => {
      const { call, runId } = await talking('plivo');
      const path = `plivo/ring-callback/${runId}`;
      const ring = { ['CallUUID']: call.id, ['Event']: 'Ring', ['CallStatus']: 'ringing' };
      const headers = signed('plivo', path, ring);
      const nonce = headers['X-Plivo-Signature-V3-Nonce'] ?? '';
      expect((await post(path, ring, headers)).status).toBe(200);
      expect((await post(path, ring, headers)).status).toBe(200);
      // Signed with the account's token, as only Plivo can; only its nonce is not new.
      const forged = hangUp(call);
      const url = `${rig.gateway.url}/api/v1/telephony/${path}`;
      const replayed = {
        ['X-Plivo-Signature-V3']: plivoSignature(plivoDialect.authToken, {
          url,
          form: forged,
          nonce,
        }),
        ['X-Plivo-Signature-V3-Nonce']: nonce,
      };
      expect((await post(path, forged, replayed)).status).toBe(401);
      expect((await stateOf('plivo', runId)).state).toBe('running');

      await rig.kill();
      await rig.startAgain();
      expect((await post(path, forged, replayed)).status).toBe(401);
      const inboundForm = { ...forged, ['Event']: 'StartApp', ['To']: NUMBERS.plivo };
      expect((await post(path, inboundForm, replayed)).status).toBe(401);
      const run = await api.run(agents.plivo, runId);
      expect(run.disposition).not.toBe('completed');
    },
    TEST_MS_MAX,
  );
});
