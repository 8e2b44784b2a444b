// `patchbay doctor --call`: what it asks the gateway for, what it prints and writes, and when it calls nobody. The gateway
// is a server on loopback with set answers.

import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli } from '../../src/cli/cli.ts';

const ROOT = '/api/v1/organizations/telephony-configs/7';
const CALL = `${ROOT}/examination-calls/examination-1`;
const step = (key: string, verdict: string, advice: string | null = null) => ({
  key,
  title: key,
  verdict,
  message: `${key} ${verdict}.`,
  advice,
  at_ms: 1_240,
});
const finding = (key: string, verdict: string) => {
  const { at_ms: _, ...rest } = step(key, verdict);
  return rest;
};

let server: Server;
let url: string;
let folder: string;
let asked: string[];
/** By `METHOD path`; the last one stays. */
let answers: Record<string, unknown[]>;
let onAsked: (what: string) => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-call-'));
  asked = [];
  onAsked = () => undefined;
  answers = {
    [`GET ${ROOT}`]: [{ provider: 'twilio' }],
    [`POST ${ROOT}/examine`]: [{ ok: true, findings: [finding('credentials', 'pass')] }],
    [`POST ${ROOT}/examination-calls`]: [report('running', [])],
    [`GET ${CALL}`]: [
      report('running', [step('dial', 'pass')]),
      report('ended', [step('dial', 'pass'), step('mark', 'pass')]),
    ],
    [`POST ${CALL}/hang-up`]: [report('running', [step('dial', 'pass')])],
    [`GET ${CALL}/capture`]: [{ kind: 'capture' }],
  };
  server = createServer((request, response) => {
    const what = `${request.method} ${request.url}`;
    asked.push(what);
    onAsked(what);
    const [first, ...rest] = answers[what] ?? [];
    if (rest.length > 0) answers[what] = rest;
    response.writeHead(first === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(first ?? { detail: 'Not Found' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

function report(state: string, steps: object[], ok = true): object {
  return { id: 'examination-1', state, ok, steps };
}

async function run(more: string[] = [], interrupted?: AbortSignal) {
  const shown = { out: '', error: '' };
  const file = join(folder, 'capture.jsonl');
  const args = ['doctor', '--config', '7', '--url', url, '--key', 'k', '--out', file, ...more];
  const code = await runCli(args, {
    env: {},
    out: (text) => {
      shown.out += text;
    },
    error: (text) => {
      shown.error += text;
    },
    ...(interrupted !== undefined && { interrupted }),
  });
  const capture = await readFile(file, 'utf8').catch(() => undefined);
  return { code, capture, file, ...shown };
}

const called = () => asked.includes(`POST ${ROOT}/examination-calls`);

it('says first what it will do, shows every step once with its time, and writes the capture', async () => {
  const { code, out, capture, file } = await run(['--call', '+14155550123']);
  expect(code).toBe(0);
  expect(out).toMatch(/^This rings \+14155550123 over configuration 7.*charges.*Ctrl-C/s);
  expect(out.indexOf('credentials')).toBeLessThan(out.indexOf('Calling'));
  expect(out.match(/ 1\.2 s {2}✓ dial: dial pass\./g)).toHaveLength(1);
  expect(out).toContain('✓ mark');
  expect(capture).toBe('{"kind":"capture"}');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('fails if a step failed, with what to do about it', async () => {
  answers[`GET ${CALL}`] = [report('ended', [step('mark', 'fail', 'Do this.')], false)];
  const { code, out } = await run(['--call', '+14155550123']);
  expect([code, out]).toEqual([1, expect.stringMatching(/✗ mark: mark fail\.\n {4}-> Do this\./)]);
});

it('places no call after a fault that would keep the call from working', async () => {
  const findings = [finding('websocket', 'fail')];
  answers[`POST ${ROOT}/examine`] = [{ ok: false, findings }];
  const { code, out, capture } = await run(['--call', '+14155550123']);
  expect([code, called(), capture]).toEqual([1, false, undefined]);
  expect(out).toContain('No number was called.');
});

it('calls in spite of faults of inbound calls', async () => {
  const findings = [finding('number', 'fail'), finding('application', 'fail')];
  answers[`POST ${ROOT}/examine`] = [{ ok: false, findings }];
  expect((await run(['--call', '+14155550123'])).code).toBe(0);
  expect(called()).toBe(true);
});

it('refuses an Asterisk, what is no number, and a file that exists, before anything rings', async () => {
  answers[`GET ${ROOT}`] = [{ provider: 'ari' }];
  const pbx = await run(['--call', '+14155550123']);
  expect([pbx.code, pbx.error]).toEqual([2, expect.stringContaining('is an Asterisk')]);
  answers[`GET ${ROOT}`] = [{ provider: 'twilio' }];
  expect((await run(['--call', 'Jane'])).error).toContain('say which number to call');
  expect((await run()).error).toContain('--out goes with --call');
  expect(called()).toBe(false);
  expect((await run(['--call', '+14155550123'])).code).toBe(0);
  asked = [];
  const again = await run(['--call', '+14155550123']);
  expect([again.code, called(), again.error]).toEqual([
    2,
    false,
    expect.stringContaining('exists'),
  ]);
});

it('leaves no file if the gateway refuses the call', async () => {
  delete answers[`POST ${ROOT}/examination-calls`];
  const { code, capture, error } = await run(['--call', '+14155550123']);
  expect([code, capture, error]).toEqual([1, undefined, expect.stringContaining('Not Found')]);
});

it('hangs up when it is interrupted, and waits for the end', async () => {
  const interrupt = new AbortController();
  answers[`GET ${CALL}`] = [report('ended', [step('hang_up', 'pass')])];
  onAsked = (what) => {
    if (what === `POST ${ROOT}/examination-calls`) interrupt.abort();
  };
  const { code, out, capture } = await run(['--call', '+14155550123'], interrupt.signal);
  expect(asked.filter((what) => what.endsWith('/hang-up'))).toHaveLength(1);
  expect([code, capture]).toEqual([0, '{"kind":"capture"}']);
  expect(out).toContain('Hanging up');
});

it('places no call if it is interrupted before', async () => {
  const interrupt = new AbortController();
  onAsked = (what) => {
    if (what.endsWith('/examine')) interrupt.abort();
  };
  const { code, out } = await run(['--call', '+14155550123'], interrupt.signal);
  expect([code, called()]).toEqual([1, false]);
  expect(out).toContain('no number was called');
});
