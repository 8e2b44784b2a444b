// Faults of asterisk §7.1 of the PBX's HTTP server. While it or ARI is off, Asterisk is asked over an event socket that was
// open before: it stays open, and carries requests. The lines that turn it off are in its files only while it reads them,
// so that a reload or a restart of Asterisk turns it on, should the run be killed.

import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { AriSession } from '../../fakes/asterisk/scenarios/ari-session.ts';
import { makeCertificate } from '../../fakes/certificates.ts';
import { freePort } from '../../fakes/free-port.ts';
import { INCLUDED } from '../asterisk-side.ts';
import { pause, until } from '../waiting.ts';
import type { FaultPlace, Findings } from './fault-place.ts';
import type { Fault } from './outgoing-faults.ts';

/** Asterisk answers a request that arrives right after its upgrade only with the next one. */
const SETTLE_MS = 500;
const CHANGE_MS_MAX = 10_000;
const APP = 'patchbay-run-switch';
const OFF = '[general](+)\nenabled = no\n';

type Switched = 'http.conf' | 'ari.conf';

export const serverFaults: Readonly<Record<string, Fault>> = {
  '`http://` to the TLS port': async (place) => {
    const port = await freePort();
    const file = place.stage.pbx.fileOf('certificate.pem');
    const { cert, key } = makeCertificate({ names: ['127.0.0.1'] });
    writeFileSync(file, `${cert}\n${key}`);
    chmodSync(file, 0o644);
    place.atEnd(() => Promise.resolve(rmSync(file)));
    const address = `tlsbindaddr = 127.0.0.1:${port}`;
    const tls = ['[general](+)', 'tlsenable = yes', address, `tlscertfile = ${file}`];
    await place.files({ 'http.conf': `${tls.join('\n')}\n` });
    return place.examined({ ari_endpoint: `http://127.0.0.1:${port}` });
  },
  "Asterisk's HTTP server is off": (place) => switchedOff(place, 'http.conf', OFF),
  '`http.conf` has `[general]` twice, the second one enables the server': (place) =>
    switchedOff(place, 'http.conf', `${OFF}[general]\nenabled = yes\n`),
  'ARI is off in `ari.conf`': (place) => switchedOff(place, 'ari.conf', OFF),
};

async function switchedOff(place: FaultPlace, name: Switched, lines: string): Promise<Findings> {
  const { pbx } = place.stage;
  const made = await place.configured({ ari_endpoint: pbx.account.url });
  const session = await AriSession.open(pbx.account, `${APP}-${performance.now()}`);
  place.atEnd(() => Promise.resolve(session.close()));
  await pause(SETTLE_MS);
  const reload = () => reloadOver(session, INCLUDED[name]);
  // Nothing else is tried before Asterisk is back.
  place.atEnd(() => back(place, reload));
  await pbx.readOnce(name, lines, reload);
  await until(`Asterisk has read ${name} of this run`, CHANGE_MS_MAX, async () => {
    return !(await isServing(pbx.account.url));
  });
  return place.examine(made);
}

async function back(place: FaultPlace, reload: () => Promise<void>): Promise<void> {
  await reload();
  const { pbx, api, configurationId } = place.stage;
  await until('ARI is on again', CHANGE_MS_MAX, () => isServing(pbx.account.url));
  await until('the gateway is back', CHANGE_MS_MAX, async () => {
    return (await api.inactiveReason(configurationId)) === null;
  });
}

/** Over a connection of its own: those that are open go on. */
async function isServing(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(CHANGE_MS_MAX);
    const headers = { connection: 'close' };
    return (await fetch(`${url}/ari/asterisk/info`, { signal, headers })).status === 401;
  } catch {
    return false; // Nothing listens.
  }
}

async function reloadOver(session: AriSession, module: string): Promise<void> {
  const id = `reload-${performance.now()}`;
  const request = { type: 'RESTRequest', request_id: id, method: 'PUT' };
  session.send(JSON.stringify({ ...request, uri: `asterisk/modules/${module}` }));
  const answer = () => session.events.find((event) => event['request_id'] === id);
  await session.until(() => answer() !== undefined, `answer to the reload of ${module}`);
  const status = Number(answer()?.['status_code']);
  if (status > 299) throw new Error(`reload of ${module}: ${status}`);
}
