// Options of the real-PBX run, and what is missing for it.

import { existsSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ADMIN_MODES, type AdminMode } from '../../src/telephony/registry/asterisk-files.ts';
import type { Account } from '../fakes/asterisk/scenarios/ari-session.ts';

export interface PbxOptions {
  account: Account;
  /** Where Asterisk's own files include files from. */
  files: string;
  sipp: string;
  sip: { host: string; port: number };
  modes: readonly AdminMode[];
  /** Parts of names of rows; empty: all. */
  features: readonly string[];
  keep: boolean;
  /** Call workers of the gateway. */
  workers: number;
}

const SIP_PORT = 5_060;

/** The options, or why there can be no run. `rows`: the names of all rows. */
export function pbxOptions(
  args: string[],
  path: string,
  rows: readonly string[],
): { options: PbxOptions } | { missing: string[] } {
  const { values } = parseArgs({
    args,
    options: {
      'ari-url': { type: 'string', default: '' },
      'asterisk-files': { type: 'string', default: '' },
      sipp: { type: 'string', default: 'sipp' },
      sip: { type: 'string', default: `127.0.0.1:${SIP_PORT}` },
      modes: { type: 'string', default: ADMIN_MODES.join(',') },
      features: { type: 'string', default: '' },
      keep: { type: 'boolean', default: false },
      workers: { type: 'string', default: '1' },
    },
  });
  const account = accountOf(values['ari-url']);
  const files = values['asterisk-files'];
  const sipp = programOf(values.sipp, path);
  const wanted = partsOf(values.modes);
  const modes = ADMIN_MODES.filter((mode) => wanted.includes(mode));
  const noModes = wanted.filter((name) => !ADMIN_MODES.some((mode) => mode === name));
  const features = partsOf(values.features);
  const noFeatures = features.filter((part) => !rows.some((row) => row.includes(part)));
  const missing = [
    account === undefined &&
      'no Asterisk: --ari-url http://USER:PASSWORD@HOST:PORT, a user of ari.conf who may write',
    !isFolder(files) &&
      '--asterisk-files: a folder from which the files of Asterisk include those of this run (docs/asterisk.md)',
    sipp === undefined &&
      `no SIP client: "${values.sipp}" is no program (Debian: sip-tester); --sipp PATH`,
    (wanted.length === 0 || noModes.length > 0) &&
      `--modes: ${quoted(noModes)} none of ${ADMIN_MODES.join(', ')}`,
    !/^[1-9]\d?$/.test(values.workers) && `--workers: "${values.workers}" is no number of workers`,
    noFeatures.length > 0 &&
      `--features: ${quoted(noFeatures)} part of no row's name: ${rows.join('; ')}`,
  ].filter((each) => each !== false);
  if (account === undefined || sipp === undefined || missing.length > 0) return { missing };
  const [host = '', port] = values.sip.split(':');
  const sip = { host, port: Number(port ?? SIP_PORT) };
  const { keep } = values;
  const workers = Number(values.workers);
  return { options: { account, files, sipp, sip, modes, features, keep, workers } };
}

function partsOf(list: string): string[] {
  return list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function quoted(names: readonly string[]): string {
  const shown = names.map((name) => JSON.stringify(name)).join(', ');
  return `${shown === '' ? 'the list' : shown} ${names.length > 1 ? 'are' : 'is'}`;
}

function accountOf(url: string): Account | undefined {
  if (!URL.canParse(url)) return undefined;
  const { username: user, password, origin } = new URL(url);
  return user === '' || password === '' ? undefined : { url: origin, user, password };
}

function isFolder(name: string): boolean {
  return name !== '' && isAbsolute(name) && existsSync(name) && statSync(name).isDirectory();
}

function programOf(name: string, path: string): string | undefined {
  const places = name.includes('/') ? [name] : path.split(delimiter).map((at) => join(at, name));
  return places.find((place) => existsSync(place) && statSync(place).isFile());
}
