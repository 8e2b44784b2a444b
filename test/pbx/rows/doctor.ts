// Rows: faults of the PBX's set-up, each played on the real PBX and named by the doctor in the words of asterisk §7.1.

import type { AdminMode } from '../../../src/telephony/registry/asterisk-files.ts';
import { differenceFrom, faultRows } from '../../telephony/ari/doctor/fault-table.ts';
import { FaultPlace } from '../doctor/fault-place.ts';
import { incomingFaults } from '../doctor/incoming-faults.ts';
import { networkFaults } from '../doctor/network-faults.ts';
import {
  addressFaults,
  dialplanFaults,
  type Fault,
  moduleFaults,
} from '../doctor/outgoing-faults.ts';
import { serverFaults } from '../doctor/server-faults.ts';
import type { Stage } from '../stage.ts';
import { check, type Row } from './row.ts';

const rowOf = (name: string, mode: AdminMode, faults: Readonly<Record<string, Fault>>): Row => ({
  feature: `doctor: ${name}`,
  // The checks are those of the connection, whatever carries the audio.
  skips: (stage) => (stage.mode === mode ? undefined : `tried in mode ${mode}`),
  async run(stage) {
    const wrong: string[] = [];
    for (const [fault, play] of Object.entries(faults)) {
      const difference = await differenceOf(stage, fault, play);
      if (difference !== undefined) wrong.push(`${fault}: ${difference}`);
    }
    check(wrong.length === 0, wrong.join(' | '));
    return `${Object.keys(faults).length} faults, each named with its remedy`;
  },
});

async function differenceOf(stage: Stage, fault: string, play: Fault): Promise<string | undefined> {
  const row = faultRows().find((each) => each.fault === fault);
  if (row === undefined) return 'the table of asterisk §7.1 has no such fault';
  const place = new FaultPlace(stage);
  try {
    return differenceFrom(row, await play(place), place.names);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await place.close();
  }
}

/** In several modes, each of which has a gateway of its own: it allows 30 examinations in ten minutes. */
export const doctorRows: readonly Row[] = [
  rowOf('address and user', 'client', addressFaults),
  rowOf('modules and files', 'server', moduleFaults),
  rowOf('dialplan and numbers', 'server', dialplanFaults),
  rowOf('proxies and names', 'server', networkFaults),
  rowOf('HTTP server', 'client', serverFaults),
  rowOf('incoming', 'incoming', incomingFaults),
];
