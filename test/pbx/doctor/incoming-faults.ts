// Faults of asterisk §7.1 that a real PBX can have during the run, where Asterisk opens the connection.

import { AriSession } from '../../fakes/asterisk/scenarios/ari-session.ts';
import { differenceFrom, faultRows } from '../../telephony/ari/doctor/fault-table.ts';
import { eventFiles } from '../asterisk-side.ts';
import { pause } from '../waiting.ts';
import { type Configured, type FaultPlace, type Findings, OWN } from './fault-place.ts';
import type { Fault } from './outgoing-faults.ts';

/** Asterisk connects within half a second of its reload. */
const ATTEMPT_MS_MAX = 15_000;
const LOOK_MS = 500;

/** In this order: an attempt for an unknown application is seen of every configuration. */
export const incomingFaults: Readonly<Record<string, Fault>> = {
  '`incoming`: a wrong host or port, or a certificate that Asterisk does not trust': async (
    place,
  ) => {
    const made = await opened(place, (text) => text.replace(/(uri = wss?:\/\/[^:/]+):\d+/, '$1:9'));
    return place.examine(made);
  },
  '`incoming`: another password': async (place) => {
    const made = await opened(place, (text) => text.replace(/password = .*/, 'password = old'));
    return await attempted(place, made, '`incoming`: another password');
  },
  '`incoming`: another application in the address': async (place) => {
    const made = await opened(place, (text) => text.replace(/(uri = .*\/).*/, '$1patchbay_old'));
    return await attempted(place, made, '`incoming`: another application in the address');
  },
  '`incoming`: the user may only read': async (place) => {
    const reader = `[${OWN.reader}]\ntype = user\nread_only = yes\npassword = patchbay-run-reads\n`;
    const made = await opened(
      place,
      (text) => text,
      (text) => `${reader}${text.replace(/local_ari_user = .*/, `local_ari_user = ${OWN.reader}`)}`,
    );
    return await attempted(place, made, '`incoming`: the user may only read');
  },
  '`incoming`: another program has taken the application, or had it': async (place) => {
    const made = await opened(place, (text) => text);
    await place.untilUp(made);
    const other = await AriSession.open(place.stage.pbx.account, made.app);
    place.atEnd(() => Promise.resolve(other.close()));
    await place.untilDown(made);
    return place.examine(made);
  },
};

/** Asterisk opens a connection for a second configuration, with `change` in websocket_client.conf and
 *  `changeUser` in ari.conf. */
async function opened(
  place: FaultPlace,
  change: (text: string) => string,
  changeUser: (text: string) => string = (text) => text,
): Promise<Configured> {
  const made = await place.configured();
  const { configuration, gatewayUrl } = place.stage;
  const files = eventFiles({
    app: made.app,
    gatewayUrl,
    user: String(configuration['app_name']),
    password: String(configuration['app_password']),
  });
  await place.files({
    'websocket_client.conf': change(files['websocket_client.conf']),
    'ari.conf': changeUser(files['ari.conf']),
  });
  return made;
}

/** The findings once the doctor knows the attempt, or after the time that it may take. */
async function attempted(place: FaultPlace, made: Configured, fault: string): Promise<Findings> {
  const row = faultRows().find((each) => each.fault === fault);
  for (const deadline = performance.now() + ATTEMPT_MS_MAX; ; ) {
    const findings = await place.examine(made);
    const isKnown = row !== undefined && differenceFrom(row, findings, place.names) === undefined;
    if (isKnown || performance.now() > deadline) return findings;
    await pause(LOOK_MS);
  }
}
