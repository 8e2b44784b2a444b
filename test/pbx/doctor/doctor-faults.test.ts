// Which faults of asterisk §7.1 the run against a real PBX plays: the table says it of those, and of no others.

import { describe, expect, it } from 'vitest';
import { faultRows } from '../../telephony/ari/doctor/fault-table.ts';
import { incomingFaults } from './incoming-faults.ts';
import { networkFaults } from './network-faults.ts';
import { addressFaults, dialplanFaults, moduleFaults } from './outgoing-faults.ts';
import { serverFaults } from './server-faults.ts';

describe('the faults that the run plays on a real PBX', () => {
  it('are those that docs/asterisk.md says it of', () => {
    const outgoing = [addressFaults, moduleFaults, dialplanFaults, networkFaults, serverFaults];
    const played = [...outgoing, incomingFaults].flatMap(Object.keys);
    const said = faultRows().filter(({ isReal }) => isReal);
    expect(said.map(({ fault }) => fault).sort()).toEqual(played.sort());
    expect(played.length).toBeGreaterThanOrEqual(39);
  });
});
