// The real-PBX run's options, and the files that it writes for Asterisk.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startAsterisk } from '../fakes/asterisk/fake-asterisk.ts';
import { AsteriskSide } from './asterisk-side.ts';
import { pbxOptions } from './options.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-pbx-'));
const ROWS = ['hold', 'doctor: incoming'];
const URL_OF_PBX = 'http://gw:gwsecret@127.0.0.1:8088';

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('names everything that is missing at once', () => {
  const read = pbxOptions(['--sipp', '/nowhere/sipp', '--modes', 'carrier'], '', ROWS);
  const missing = 'missing' in read ? read.missing : [];
  expect(missing.map((each) => /--[a-z-]+/.exec(each)?.[0])).toEqual([
    '--ari-url',
    '--asterisk-files',
    '--sipp',
    '--modes',
  ]);
});

it('takes a user and a password from the address of the PBX', () => {
  const args = ['--ari-url', URL_OF_PBX, '--asterisk-files', folder, '--sipp', process.execPath];
  expect(pbxOptions([...args, '--modes', 'rtp, server'], '', ROWS)).toMatchObject({
    options: {
      account: { url: 'http://127.0.0.1:8088', user: 'gw', password: 'gwsecret' },
      modes: ['server', 'rtp'],
      sip: { host: '127.0.0.1', port: 5_060 },
    },
  });
});

it.each([
  ['--modes', 'server,sever', '"sever" is none of server, '],
  ['--modes', '', 'the list is none of server, '],
  ['--features', 'hold,holt,x', '"holt", "x" are part of no row\'s name: hold; doctor: incoming'],
])('refuses %s %s, naming what is wrong', (option, value, said) => {
  const args = ['--ari-url', URL_OF_PBX, '--asterisk-files', folder, '--sipp', process.execPath];
  const read = pbxOptions([...args, option, value], '', ROWS);
  const missing = 'missing' in read ? read.missing : [];
  expect(missing).toEqual([expect.stringContaining(`${option}: ${said}`)]);
});

it('writes the printed files of a mode, and takes them back', async () => {
  const asterisk = await startAsterisk();
  const account = { url: asterisk.url, user: 'gw', password: 'gwsecret' };
  const pbx = new AsteriskSide(account, folder);
  const facts = { app: 'patchbay_1', gatewayUrl: 'http://127.0.0.1:8000', user: 'patchbay-run' };
  const more = { password: 'secret-of-the-run', numbers: ['8001'], trunkPort: 5_080 };
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const reloads: string[] = [];
  asterisk.faults.rest = ({ method, path }) => {
    if (method !== 'PUT' || !path.startsWith('asterisk/modules/')) return undefined;
    reloads.push(path.slice('asterisk/modules/'.length));
    return { status: 204, body: null };
  };
  await pbx.configure({ mode: 'incoming', ...facts, ...more });
  // The outbound websocket comes by a reload after its user's.
  expect(reloads.slice(-2)).toEqual(['res_ari.so', 'res_ari.so']);
  expect(read('extensions.conf')).toContain('Stasis(patchbay_1,inbound,');
  expect(read('websocket_client.conf')).toContain('ws://127.0.0.1:8000/api/v1/telephony/');
  expect(read('ari.conf')).toContain('outbound_websocket');
  expect(read('pjsip.conf')).toContain('contact = sip:127.0.0.1:5080');
  await pbx.configure();
  expect(read('ari.conf')).not.toContain('password');
  await asterisk.stop();
});
