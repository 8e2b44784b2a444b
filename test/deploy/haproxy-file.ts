// deploy/cluster/haproxy.cfg for two gateways on loopback: without TLS, and with few open files.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export const HAPROXY_FILE = 'deploy/cluster/haproxy.cfg';

/** Whether the program is there; says so if it is not. */
export function hasHaproxy(): boolean {
  const isThere = spawnSync('haproxy', ['-v']).status === 0;
  if (!isThere) process.stderr.write('No HAProxy test: haproxy is not installed.\n');
  return isThere;
}

/** The file with these ports in place of its own. */
export function haproxyOnLoopback(ports: {
  public: number;
  figures: number;
  gateways: readonly [number, number];
}): string {
  const [one, two] = ports.gateways;
  return replaced(readFileSync(HAPROXY_FILE, 'utf8'), [
    ['maxconn 20000', 'maxconn 1000'],
    [/^ {4}bind :443 .*$/m, `    bind 127.0.0.1:${ports.public}`],
    [/^ {4}bind :80$/m, ''],
    [/^ {4}http-request redirect .*$/m, ''],
    ['bind 127.0.0.1:8404', `bind 127.0.0.1:${ports.figures}`],
    ['gw1:8000', `127.0.0.1:${one}`],
    ['gw2:8000', `127.0.0.1:${two}`],
    [/ slowstart 30s/, ''],
  ]);
}

/** Throws if one of the places is not there. */
export function replaced(
  text: string,
  changes: readonly (readonly [string | RegExp, string])[],
): string {
  return changes.reduce((all, [from, to]) => {
    const next = all.replace(from, to);
    if (next === all) throw new Error(`not in the file: ${from}`);
    return next;
  }, text);
}
