// The lines that `patchbay asterisk config` prints, looked for without a call: the plain examination found the extension
// and passed over a line of it that was gone.

import { describe, expect, it } from 'vitest';
import type { Dialplan, Step } from '../../../fakes/asterisk/dialplan.ts';
import { APP, withDoctor } from './doctor-harness.ts';

const doctor = withDoctor();

/** The lines of a number, as they are printed. */
const printed: Step[] = [
  { app: 'Set', data: 'TIMEOUT(absolute)=60' },
  { app: 'Set', data: 'JITTERBUFFER(adaptive)=default', label: 'jitter' },
  { app: 'Stasis', args: ['inbound', '%', '3600'], label: 'stasis' },
  { app: 'Hangup', cause: 16 },
  { app: 'Congestion', label: 'away' },
];
const without = (label: string): Step[] => printed.filter((step) => step.label !== label);
const onward: Step[] = [{ app: 'Dial', context: 'patchbay-in', exten: '8000' }];

async function look(dialplan: Dialplan, fields: Record<string, unknown> = {}) {
  const { world } = doctor;
  const trunk = { context: 'from-trunk', kind: 'outside' } as const;
  await world.play({ app: APP, endpoints: { trunk }, dialplan });
  // No other endpoint has the number.
  const { faults } = world.asterisk;
  faults.rest = ({ query }) =>
    /^PJSIP_ENDPOINT\((?!trunk,)/.test(query.get('variable') ?? '')
      ? { status: 500, body: {} }
      : undefined;
  await world.connectApp();
  const findings = await world.examine({ fields });
  expect(world.asterisk.requests.filter(({ path }) => path === 'channels')).toEqual([]);
  return findings.get('lines');
}

describe('the printed lines of a number', () => {
  it('are complete in the context of the trunk, or in that to which it sends the call', async () => {
    expect(await look({ 'from-trunk': { '8000': printed } })).toMatchObject({
      verdict: 'pass',
      message: 'The printed lines of 8000 are complete.',
    });
    const sentOn = { 'from-trunk': { '8000': onward }, 'patchbay-in': { '8000': printed } };
    expect(await look(sentOn)).toMatchObject({ verdict: 'pass' });
  });

  it.each([
    ['stasis', `8000 lacks Stasis(${APP},inbound,\${EXTEN}) (label stasis).`],
    ['jitter', '8000 lacks Set(JITTERBUFFER(adaptive)=default) (label jitter).'],
  ])('lack that of %s', async (label, words) => {
    const finding = await look({ 'from-trunk': { '8000': without(label) } });
    expect(finding).toMatchObject({ verdict: 'warn', message: expect.stringContaining(words) });
    expect(finding?.advice).toContain('npx patchbay asterisk config prints all lines');
  });

  it('need no jitter buffer where the media are RTP', async () => {
    const plan = { 'from-trunk': { '8000': without('jitter') } };
    expect(await look(plan, { media: 'rtp' })).toMatchObject({ verdict: 'pass' });
  });

  it('are gone from the context to which the trunk sends the call', async () => {
    const plan = { 'from-trunk': { '8000': onward }, 'patchbay-in': { '8001': printed } };
    expect(await look(plan)).toMatchObject({
      verdict: 'warn',
      message: expect.stringContaining('patchbay-in has no line for 8000'),
    });
  });

  it('are not judged where somebody wrote other lines', async () => {
    const own: Step[] = [{ app: 'Stasis', args: ['inbound', '%'] }];
    expect(await look({ 'from-trunk': { '8000': own } })).toMatchObject({
      verdict: 'skip',
      message: expect.stringContaining('only calls show what they do (patchbay doctor --numbers)'),
    });
  });
});
