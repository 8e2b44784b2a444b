// Numbers that the doctor calls through a simulated dialplan: which reach the gateway's application, and why the others do
// not. No agent starts, and nothing is left.

import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { createChannelIds } from '../../../../src/telephony/ari/rest/channel-ids.ts';
import type { Dialplan, Step } from '../../../fakes/asterisk/dialplan.ts';
import type { FakeAsteriskOptions } from '../../../fakes/asterisk/fake-asterisk.ts';
import { APP, withDoctor } from './doctor-harness.ts';

const doctor = withDoctor();

/** A trunk whose calls begin in `from-trunk`, which has these lines. */
function trunkWith(lines: Record<string, Step[]>, more: Dialplan = {}): FakeAsteriskOptions {
  return {
    app: APP,
    endpoints: { trunk: { context: 'from-trunk', kind: 'outside' } },
    dialplan: { 'from-trunk': lines, ...more },
  };
}

const stasis: Step = { app: 'Stasis', args: ['inbound', '%'] };
const jitter: Step = { app: 'Set', data: 'JITTERBUFFER(adaptive)=default' };
const hangUp: Step = { app: 'Hangup', cause: 16 };

async function calls(
  options: FakeAsteriskOptions,
  numbers: string[],
  callFrom: string | null = null,
) {
  const { world } = doctor;
  await world.play(options);
  const { up } = await world.ownConnection();
  await up;
  const findings = await world.examine({ numbers, callFrom });
  expect(world.inbound, 'no agent starts').toEqual([]);
  world.expectNothingLeft();
  return findings;
}

describe('calls of the doctor to numbers', () => {
  it('are not made unless asked for', async () => {
    await doctor.world.play(trunkWith({ '8000': [stasis] }));
    const { up } = await doctor.world.ownConnection();
    await up;
    const findings = await doctor.world.examine();
    expect([...findings.keys()].filter((key) => key.startsWith('call'))).toEqual([]);
    expect(doctor.world.asterisk.requests.filter(({ path }) => path === 'channels')).toEqual([]);
  });

  it('reach this gateway, with or without a plus, from the context of the trunk', async () => {
    const lines = { '8000': [jitter, stasis], '15550100': [jitter, stasis] };
    const findings = await calls(trunkWith(lines), ['8000', '+15550100']);
    expect(findings.get('calls')).toMatchObject({ verdict: 'pass' });
    expect(findings.get('call:8000')).toEqual({
      key: 'call:8000',
      title: 'Call to 8000',
      verdict: 'pass',
      advice: null,
      message: `8000@from-trunk reaches Stasis(${APP}): this gateway gets the call.`,
    });
    expect(findings.get('call:+15550100')?.message).toContain('15550100@from-trunk reaches');
  });

  it.each([
    ['warn', 'server', [stasis], { media: 'websocket_server' }],
    ['pass', 'RTP, which has timestamps', [stasis], { media: 'rtp' }],
    ['pass', 'a line', [{ app: 'Set', data: 'JITTERBUFFER(fixed)=200' } as Step, stasis], {}],
  ] as const)(
    'look for a jitter buffer in the lines: %s for %s',
    async (verdict, _, steps, fields) => {
      const { world } = doctor;
      await world.play(trunkWith({ '8000': [...steps] }));
      const { up } = await world.ownConnection(fields);
      await up;
      const finding = (await world.examine({ fields, callFrom: null })).get('call:8000');
      expect(finding).toMatchObject({
        verdict,
        message: expect.stringContaining('8000@from-trunk reaches'),
      });
      if (verdict === 'warn') {
        expect(finding?.message).toContain('Its lines set no jitter buffer');
        expect(finding?.advice).toContain('Set(JITTERBUFFER(adaptive)=default) before Stasis');
      }
    },
  );

  it('are marked by a channel variable that the dialplan can look at', async () => {
    await calls(trunkWith({ '8000': [stasis] }), ['8000']);
    const dial = doctor.world.asterisk.requests.find(({ path }) => path === 'channels');
    const mark = [['__PATCHBAY_DOCTOR', expect.stringMatching(/^pb[0-9a-f]{8}d/)]];
    expect(dial?.body).toMatchObject({ variables: Object.fromEntries(mark) });
    expect(dial?.query).toMatchObject({ callerId: 'Patchbay doctor <0>', timeout: '8' });
  });

  it('reach it also over a channel that the dialplan dials, and no agent starts', async () => {
    const queue: Step[] = [{ app: 'Dial', context: 'agents-of-queue', exten: '8000' }, hangUp];
    const more = { 'agents-of-queue': { '8000': [stasis] } };
    const findings = await calls(trunkWith({ '8000': queue }, more), ['8000']);
    expect(findings.get('call:8000')).toMatchObject({
      verdict: 'pass',
      message: expect.stringContaining('over a channel that the dialplan dialled'),
    });
  });

  it('reach it also over a connection that Asterisk has opened', async () => {
    const { world } = doctor;
    const lines = {
      '8000': [jitter, stasis],
      '8001': [{ app: 'Answer' } as Step, { ...stasis, name: 'old' }],
    };
    await world.play(trunkWith(lines));
    const { up } = await world.ownConnection({ connection: 'incoming' });
    const uri = `${await world.serveUpgrades('192.0.2.9')}${APP}`;
    const login = { username: 'gw', password: 'gwsecret' };
    world.close.push(world.asterisk.dialOut({ uri, protocols: 'ari', ...login, apps: [APP] }));
    await up;
    const fields = { connection: 'incoming' };
    const findings = await world.examine({ fields, numbers: ['8000', '8001'], callFrom: null });
    expect(findings.get('call:8000')?.verdict).toBe('pass');
    expect(findings.get('call:8001')?.verdict).toBe('fail');
    expect(world.inbound).toEqual([]);
    world.expectNothingLeft();
  });

  it('of a killed process get no agent either, and are hung up', async () => {
    const { world } = doctor;
    await world.play(trunkWith({ '8000': [stasis] }));
    const { up } = await world.ownConnection();
    await up;
    await world.connectApp(`${APP}_doctor`);
    const query = new URLSearchParams({
      endpoint: 'Local/8000@from-trunk/n',
      app: `${APP}_doctor`,
      otherChannelId: createChannelIds(APP, systemRandom).make('d'),
    });
    const authorization = `Basic ${Buffer.from('gw:gwsecret').toString('base64')}`;
    const url = `${world.asterisk.url}/ari/channels?${query}`;
    expect((await fetch(url, { method: 'POST', headers: { authorization } })).status).toBe(200);
    const arrived = (): boolean =>
      world.asterisk.stasis.sent.some(
        ({ type, application }) => type === 'StasisStart' && application === APP,
      );
    await expect.poll(arrived).toBe(true);
    await expect.poll(() => world.asterisk.channels.length).toBe(0);
    expect(world.inbound).toEqual([]);
  });

  it('end by themselves where the gateway can end none, also one that was answered', async () => {
    const { world } = doctor;
    await world.play(trunkWith({ '8000': [{ app: 'Answer' }, { app: 'Wait', ms: 600_000 }] }));
    const { up } = await world.ownConnection();
    await up;
    const { asterisk } = world;
    asterisk.faults.rest = ({ method }) =>
      method === 'DELETE' ? { status: 500, body: {} } : undefined;
    await world.examine({ callFrom: null });
    await world.clock.advanceAsync(15_000, 500);
    expect(asterisk.channels.filter(({ name }) => name.startsWith('Local/8000@'))).toEqual([]);
  });

  it('a caller who rings meanwhile gets an agent', async () => {
    const { world } = doctor;
    await world.play(trunkWith({ '8000': [{ app: 'Wait', ms: 3_000 }, jitter, stasis] }));
    const { up } = await world.ownConnection();
    await up;
    const examined = world.examine({ callFrom: null });
    await expect
      .poll(() => world.asterisk.requests.some(({ path }) => path === 'channels'))
      .toBe(true);
    world.asterisk.placeCall({ from: '5551234', to: '8001', context: 'pbx-in' });
    expect((await examined).get('call:8000')?.verdict).toBe('pass');
    await expect
      .poll(() => world.inbound.map(({ from, to }) => [from, to]))
      .toEqual([['5551234', '8001']]);
  });

  it.each([
    [
      'another application, which is connected',
      { '8000': [{ ...stasis, name: 'other' } as Step, hangUp] },
      `8000@from-trunk goes to another application, other (Stasis(other,inbound,8000)`,
      `Stasis(${APP},inbound,\${EXTEN}) there`,
    ],
    [
      'another application, which is not connected',
      { '8000': [{ ...stasis, name: 'nobody' } as Step, hangUp] },
      '8000@from-trunk goes to another application, nobody',
      `stasis_app_name is ${APP}`,
    ],
    [
      'an announcement',
      { '8000': [{ app: 'Answer' }, { app: 'Playback', sound: 'demo-congrats' }] as Step[] },
      '8000@from-trunk is answered by something else (Playback(demo-congrats) at from-trunk,8000,2)',
      'send it on with Goto',
    ],
    [
      'a hang-up',
      { '8000': [hangUp] },
      '8000@from-trunk ends without reaching this gateway (Hangup(16) at from-trunk,8000,1)',
      'dialplan show 8000@from-trunk',
    ],
    [
      'a telephone that rings',
      { '8000': [{ app: 'Ringing' }, { app: 'Wait', ms: 60_000 }] as Step[] },
      '8000@from-trunk rings elsewhere (Wait(60) at from-trunk,8000,2)',
      'must come before what rings telephones',
    ],
  ])('name %s in its place', async (_name, lines, message, advice) => {
    await doctor.world.play(trunkWith(lines));
    await doctor.world.connectApp('other');
    const { up } = await doctor.world.ownConnection();
    await up;
    const finding = (await doctor.world.examine({ callFrom: null })).get('call:8000');
    expect(finding).toMatchObject({ verdict: 'fail', message: expect.stringContaining(message) });
    expect(finding?.advice).toContain(advice);
    doctor.world.expectNothingLeft();
  });

  it('name a number that arrives as another one', async () => {
    const lines = { '8000': [{ app: 'Stasis', args: ['inbound', 's'] } as Step] };
    expect((await calls(trunkWith(lines), ['8000'])).get('call:8000')).toMatchObject({
      verdict: 'warn',
      message: expect.stringContaining('but as s, which is no number of the configuration'),
      advice: expect.stringContaining('Or add s to the configuration'),
    });
  });

  it('name a missing line, and the line to add', async () => {
    const options = {
      app: APP,
      endpoints: { trunk: { context: 'empty', kind: 'outside' } },
    } as const;
    const findings = await calls({ ...options, dialplan: { empty: {} } }, ['8'], 'empty');
    expect(findings.get('calls')).toMatchObject({
      verdict: 'fail',
      message: 'No line for 8 in empty: such a call is rejected.',
      advice: expect.stringContaining(`exten => 8,1,Stasis(${APP},inbound,\${EXTEN})`),
    });
    expect(findings.has('call:8')).toBe(false);
  });

  it('name a wrong context: the lines are in another', async () => {
    const options = trunkWith({}, { 'patchbay-in': { '8000': [stasis] } });
    const finding = (await calls(options, ['8000'], 'from-trunk')).get('calls');
    expect(finding).toMatchObject({ verdict: 'fail' });
    expect(finding?.advice).toContain("context = patchbay-in at the trunk's endpoint");
  });

  it('name a context that there is not', async () => {
    const finding = (await calls(trunkWith({}), ['8000'], 'nope')).get('calls');
    expect(finding).toMatchObject({
      verdict: 'fail',
      message: 'The dialplan has no context nope.',
    });
  });

  it('are not made while the gateway is not connected here: another would answer', async () => {
    await doctor.world.play(trunkWith({ '8000': [stasis] }));
    await doctor.world.connectApp();
    expect((await doctor.world.examine({ callFrom: null })).get('calls')).toMatchObject({
      verdict: 'skip',
      message: expect.stringContaining('Nothing is called'),
    });
  });

  it('take seconds also where no number reaches the gateway, and 50 numbers at most', async () => {
    const ringing: Step[] = [{ app: 'Ringing' }, { app: 'Wait', ms: 60_000 }];
    const numbers = Array.from({ length: 60 }, (_, nth) => String(8_000 + nth));
    const lines = Object.fromEntries(numbers.map((number) => [number, ringing]));
    const before = doctor.world.clock.monotonicMs();
    const findings = await calls(trunkWith(lines), numbers);
    const called = [...findings.values()].filter(({ key }) => key.startsWith('call:'));
    expect(called).toHaveLength(50);
    expect(called.some(({ verdict }) => verdict === 'skip')).toBe(true);
    expect(doctor.world.clock.monotonicMs() - before).toBeLessThan(50_000);
  });
});
