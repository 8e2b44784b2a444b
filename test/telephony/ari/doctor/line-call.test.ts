// Test calls of watched lines over a simulated Asterisk: what a sound line gives, and what each fault is named.

import { describe, expect, it } from 'vitest';
import type { LineSettings, LineTest } from '../../../../src/model/line-watch.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { PUBLIC_URL, withDoctor } from './doctor-harness.ts';
import { ECHO, lineFaultCases, NUMBER, pbxOfLines, settingsOf } from './line-faults.ts';

const doctor = withDoctor();

async function tested(line: LineSettings): Promise<LineTest> {
  const { world } = doctor;
  const account = { organizationId: '1', configurationId: '1', credentials: world.credentials };
  const { log } = quietLog();
  const facts = { line, publicUrl: PUBLIC_URL, log };
  return await world.provider.pbx.testLine(account, facts, new AbortController().signal);
}

async function connected(): Promise<void> {
  await doctor.world.play(pbxOfLines());
  const { up } = await doctor.world.ownConnection();
  await up;
}

describe('a test call of a watched line', () => {
  it.each([
    ['pbx', null],
    ['number', NUMBER],
    ['trunk', ECHO],
  ] as const)('finds no fault in a sound line: %s', async (kind, number) => {
    await connected();
    const found = await tested(settingsOf({ kind, number }));
    expect(found).toMatchObject({ fault: null, codec: 'PCMU' });
    expect(found.delayMs).toBeLessThan(300);
    expect(found.lossShare).toBeLessThanOrEqual(0.03);
    expect(doctor.world.inbound, 'no agent starts').toEqual([]);
    doctor.world.expectNothingLeft();
  });

  it.each(lineFaultCases.map((each) => [each.name, each] as const))(
    'names: %s',
    async (_, fault) => {
      await connected();
      await fault.inject(doctor.world.asterisk);
      const found = await tested(settingsOf(fault.line));
      expect(found, found.message).toMatchObject({ fault: fault.code });
      expect(doctor.world.inbound, 'no agent starts').toEqual([]);
      if (fault.leavesPbx !== false) doctor.world.expectNothingLeft();
    },
  );

  it('says nothing of the line while this process stands still, or has no connection of calls', async () => {
    const { world } = doctor;
    await world.play(pbxOfLines());
    const line = settingsOf({ kind: 'number', number: NUMBER });
    await expect(tested(line)).rejects.toMatchObject({ code: 'PBX_NOT_CONNECTED' });
    const { up } = await world.ownConnection();
    await up;
    world.asterisk.faults.audio = { toCaller: { delayMs: 700 } };
    world.clock.stalled = { endMs: Number.POSITIVE_INFINITY, ms: 600 };
    await expect(tested(line)).rejects.toMatchObject({ code: 'GATEWAY_OVERLOADED' });
    world.expectNothingLeft();
  });
});
