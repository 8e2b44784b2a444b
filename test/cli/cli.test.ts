// The command `patchbay`: arguments, what it prints, exit codes. The gateway is a server on loopback.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/cli.ts';

let server: Server;
let url: string;
/** What the gateway answers, by `METHOD path`. */
let answers: Record<string, { status: number; body: unknown }>;
let keys: unknown[];
let bodies: string[];

beforeEach(async () => {
  answers = {};
  keys = [];
  bodies = [];
  server = createServer((request, response) => {
    keys.push(request.headers['x-api-key']);
    const found = answers[`${request.method} ${request.url}`];
    let body = '';
    request.on('data', (piece) => {
      body += String(piece);
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(found?.status ?? 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(found?.body ?? { detail: 'Not Found' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

async function run(
  args: string,
  env: Record<string, string> = {},
  confirm?: (question: string) => Promise<boolean>,
) {
  const shown = { out: '', error: '' };
  const code = await runCli(args.split(' ').filter(Boolean), {
    env,
    confirm,
    out: (text) => {
      shown.out += text;
    },
    error: (text) => {
      shown.error += text;
    },
  });
  return { code, ...shown };
}

const path = '/api/v1/organizations/telephony-configs/7';
const credentials = {
  ari_endpoint: 'https://pbx.example.com:8089',
  app_name: 'gw',
  app_password: '************cret',
  stasis_app_name: 'patchbay_0123456789ab',
  ws_client_name: 'media_gw',
  media: 'websocket_client',
  connection: 'outgoing',
};

describe('patchbay', () => {
  it.each(['', 'help', '--help', 'doctor --help'])('"%s" shows the usage', async (args) => {
    expect(await run(args)).toMatchObject({ code: 0, out: expect.stringMatching(/^Usage:/) });
  });

  it('prints why a call ended, finds its agent, and fails if somebody is at fault', async () => {
    const filters = encodeURIComponent(
      JSON.stringify([{ attribute: 'runId', type: 'number', value: { value: '42' } }]),
    );
    const at = { node_id: '1', node_name: 'Ask', at_ms: 61_400, turn: 2 };
    const service = { job: 'llm', name: 'acme', model: 'm' };
    const where = { ...at, service, tool: null, provider: null };
    const explanation = {
      verdict: 'service_stalled',
      party: 'service',
      summary: 'The language model acme did not answer in time.',
      where,
      evidence: [{ id: 9, at_ms: 61_400, type: 'fault', text: 'LLM_TIMEOUT:\nlate' }],
      advice: ['See the status page of acme.'],
      also: [],
      is_final: true,
      events: { read: 12, total: 12 },
    };
    answers[`GET /api/v1/organizations/usage/runs?filters=${filters}`] = {
      status: 200,
      body: { runs: [{ workflow_id: '7' }] },
    };
    answers['GET /api/v1/workflow/7/runs/42/why'] = { status: 200, body: explanation };
    expect(await run(`why 42 --url ${url} --key k`)).toEqual({
      code: 1,
      error: '',
      out: [
        'The language model acme did not answer in time.\n',
        '  verdict  service_stalled\n',
        '  fault    service\n',
        '  where    node "Ask", 1:01.4 of the call, after turn 2, llm acme m\n',
        '  DO: See the status page of acme.\n',
        '  event 9 at 1:01.4  LLM_TIMEOUT: late\n',
      ].join(''),
    });
    expect(await run(`why 42 --workflow 7 --json --url ${url} --key k`)).toMatchObject({
      code: 1,
      out: `${JSON.stringify(explanation, null, 2)}\n`,
    });
    answers['GET /api/v1/workflow/7/runs/42/why'] = {
      status: 200,
      body: { ...explanation, party: 'nobody' },
    };
    expect(await run(`why 42 --workflow 7 --url ${url} --key k`)).toMatchObject({ code: 0 });
  });

  it('explains no run without a number, and none that is not there', async () => {
    expect(await run(`why --url ${url} --key k`)).toMatchObject({
      code: 2,
      error: expect.stringContaining('say which run'),
    });
    expect(await run(`why x --url ${url} --key k`)).toMatchObject({ code: 2 });
    expect(await run(`why 41 --url ${url} --key k`)).toMatchObject({ code: 1 });
  });

  it('prints what every speech service says of its key, and fails for a refusal', async () => {
    const service = { model: 'llm', position: 0, provider: 'openai', message: '', duration_ms: 12 };
    const services = [
      { ...service, verdict: 'ok' },
      { ...service, position: 1, verdict: 'unverified', message: 'no answer\nin time' },
      { ...service, model: 'stt', provider: 'deepgram', verdict: 'refused', message: 'bad key' },
      { ...service, provider: 'xai', verdict: 'ok', warning: 'The model grok-3 ended.' },
    ];
    const check = 'POST /api/v1/organizations/model-configurations/v2/check';
    answers[check] = { status: 200, body: { ok: false, services } };
    expect(await run(`services check --url ${url} --key k`)).toMatchObject({
      code: 1,
      out: [
        'llm openai: ok in 12 ms\n',
        'llm (fallback 1) openai: not verified in 12 ms: no answer in time\n',
        'stt deepgram: refused in 12 ms: bad key\n',
        'llm xai: ok in 12 ms\n  The model grok-3 ended.\n',
      ].join(''),
    });
    expect(keys).toEqual(['k']);
    answers[check] = { status: 200, body: { ok: true, services: [] } };
    expect(await run(`services check --url ${url} --key k`)).toMatchObject({
      code: 0,
      out: expect.stringContaining('No services are configured'),
    });
  });

  it.each([
    ['asterisk', 'there is no command "asterisk"'],
    ['astersik config', 'there is no command "astersik config"'],
    ['asterisk config', 'say where the gateway is'],
    ['asterisk config --url gw', '"gw" is no http or https address'],
    ['asterisk config --url http://gw/?a', 'is no http or https address'],
    ['asterisk config --url http://gw --mode both', '--mode is one of server, client, incoming'],
    [
      'asterisk config --url http://gw --user a]b',
      "--user has characters that Asterisk's files cannot hold; allowed are letters, digits, and _ . -",
    ],
    [
      'asterisk config --url http://gw --password short',
      '--password has 5 characters, and must have 8 to 200',
    ],
    ['asterisk config --url http://gw --password a;bcdefgh', '--password has characters'],
    ['asterisk config --url http://gw --number 1,2', '--number has characters'],
    ['asterisk config --url http://gw --bind 0.0.0.0;x', '--bind has characters'],
    ['asterisk config --url http://gw --portt 1', "Unknown option '--portt'"],
    ['asterisk config --url http://gw more', "Unexpected argument 'more'"],
    ['asterisk config --url http://gw --config 7', 'an API key is needed'],
    ['asterisk config --url http://gw --key k --config x', 'say which configuration'],
    ['doctor --config 7', 'an API key is needed'],
    ['doctor --key k', 'say which configuration'],
    ['doctor --key k --config 7', 'say where the gateway is'],
  ])('"%s" is refused: %s', async (args, problem) => {
    const { code, out, error } = await run(args);
    expect(error).toContain(problem);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });
});

describe('patchbay asterisk config', () => {
  it('prints files, reloads, checks and what to store, with a new password each time', async () => {
    const first = await run('asterisk config --url https://gw.example.com/');
    expect(first.code).toBe(0);
    expect(first.out).toContain(';;; /etc/asterisk/extensions.conf');
    expect(first.out).toContain('module reload res_ari.so');
    const passwordOf = (text: string) => /password = (\S+)/.exec(text)?.[1] ?? '';
    expect(passwordOf(first.out)).toMatch(/^[0-9a-f]{36}$/);
    expect(first.out).toContain(`"app_password":"${passwordOf(first.out)}"`);
    expect(first.out).toContain('curl https://gw.example.com/api/v1/organizations/');
    const second = await run('asterisk config', { PATCHBAY_URL: 'https://gw.example.com' });
    expect(passwordOf(second.out)).not.toBe(passwordOf(first.out));
  });

  it('takes mode, user, application, client and TLS from a configuration', async () => {
    answers[`GET ${path}`] = { status: 200, body: { provider: 'ari', credentials } };
    const { code, out } = await run(`asterisk config --url ${url} --config 7`, {
      PATCHBAY_API_KEY: 'key-1',
      PATCHBAY_PBX_PASSWORD: 'gw-secret-1',
    });
    expect({ code, keys }).toEqual({ code: 0, keys: ['key-1'] });
    expect(out).toContain('; Mode client.');
    expect(out).toContain(`Stasis(patchbay_0123456789ab,inbound,\${EXTEN},3600)`);
    expect(out).toContain('[media_gw]');
    expect(out).toContain('tlsenable = yes');
    expect(out).toContain('password = gw-secret-1');
    expect(out).not.toContain('STASIS_APP_NAME');
    expect(out).toContain(`"ari_endpoint":"${credentials.ari_endpoint}"`);
    expect(out).not.toContain('//PBX:');
  });

  it('prints for FreePBX what is pasted where, and nothing twice', async () => {
    const { code, out } = await run('asterisk config --url https://gw.example.com --freepbx');
    expect(code).toBe(0);
    expect(out).toMatch(/^; FreePBX, mode server\./);
    expect(out).toContain(';;; /etc/asterisk/ari_additional_custom.conf\n[patchbay]\n');
    expect(out).toContain(
      '# In the web interface:\nAdmin, Custom Destinations: Target patchbay-in,8000,1;',
    );
    expect(out).toContain('"dial_template":"Local/{number}@from-internal/n"');
    expect(out).not.toMatch(/\[general\]|\/etc\/asterisk\/(http|ari|extensions)\.conf/);
  });

  it('names the unknown password', async () => {
    answers[`GET ${path}`] = { status: 200, body: { provider: 'ari', credentials } };
    const { out } = await run(`asterisk config --url ${url} --config 7 --key k`);
    expect(out).toContain('password = THE_PASSWORD_OF_THE_CONFIGURATION');
    expect(out).toContain('which the gateway does not reveal');
  });

  it('refuses a configuration of another provider', async () => {
    answers[`GET ${path}`] = { status: 200, body: { provider: 'twilio', credentials: {} } };
    const { code, error } = await run(`asterisk config --url ${url} --config 7 --key k`);
    expect(code).toBe(2);
    expect(error).toContain('one of twilio');
  });
});

describe('patchbay providers sync', () => {
  const change = {
    kind: 'number',
    subject: '+14155550100',
    from: 'https://old.example.com/voice',

    to: 'https://gw.example.com/inbound',
    state: 'planned',
    message: null,
  };
  const sync = (changes: object[]) => {
    answers[`POST ${path}/sync`] = { status: 200, body: { changes } };
  };

  it('shows what would change, and changes nothing without --yes', async () => {
    sync([change]);
    const { code, out } = await run(`providers sync --config 7 --key k --url ${url}`);
    expect([code, bodies]).toEqual([1, ['{"apply":false}']]);
    expect(out.split('\n')).toEqual([
      '- number +14155550100: https://old.example.com/voice -> https://gw.example.com/inbound',
      'Nothing was changed. With --yes it is: all numbers of an application move.',
      '',
    ]);
  });

  it('with --yes has it done; what is blocked says why, and is a failure', async () => {
    const blocked = { ...change, state: 'blocked', message: 'Remove it there.' };
    sync([{ ...change, state: 'done' }]);
    expect((await run(`providers sync --yes --config 7 --key k --url ${url}`)).code).toBe(0);
    sync([blocked]);
    const { code, out } = await run(`providers sync --yes --config 7 --key k --url ${url}`);
    expect([code, bodies[0]]).toEqual([1, '{"apply":true}']);
    expect(out).toContain('    -> Remove it there.\n');
  });

  it('says when there is nothing to do', async () => {
    sync([]);
    const { code, out } = await run(`providers sync --config 7 --key k --url ${url}`);
    expect([code, out]).toEqual([0, 'All calls come here already.\n']);
  });
});

describe('patchbay doctor', () => {
  const finding = (verdict: string, advice: string | null) => ({
    key: 'http',
    title: 'HTTP',
    verdict,
    message: 'seen',
    advice,
  });

  it('prints each finding with its sign and advice, and leaves with 0 if calls can be held', async () => {
    const findings = [finding('pass', null), finding('warn', 'do this'), finding('skip', null)];
    answers[`POST ${path}/examine`] = { status: 200, body: { ok: true, findings } };
    const { code, out } = await run(`doctor --config 7 --url ${url}/api/v1`, {
      PATCHBAY_API_KEY: 'key-1',
    });
    expect({ code, keys }).toEqual({ code: 0, keys: ['key-1'] });
    expect(out.split('\n')).toEqual([
      '✓ HTTP: seen',
      '! HTTP: seen',
      '    -> do this',
      '- HTTP: seen',
      'Nothing was found that keeps calls from working.',
      '',
    ]);
  });

  it('calls numbers only after a confirmation, or with --yes', async () => {
    answers[`POST ${path}/examine`] = { status: 200, body: { ok: true, findings: [] } };
    const command = `doctor --config 7 --key k --url ${url} --numbers --context from-trunk`;
    const questions: string[] = [];
    const answer = (isYes: boolean) => (question: string) => {
      questions.push(question);
      return Promise.resolve(isYes);
    };
    expect(await run(command, {}, answer(false))).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /^Every active number .* telephones may ring.*\nNothing was called\.\n$/,
      ),
    });
    expect(bodies).toEqual([]);
    expect((await run(command, {}, answer(true))).code).toBe(0);
    expect(questions).toEqual(['Call them now? (y/N) ', 'Call them now? (y/N) ']);
    expect((await run(`${command} --yes`)).out).not.toContain('may ring');
    const body = '{"call_numbers":true,"context":"from-trunk"}';
    expect(bodies).toEqual([body, body]);
    expect(await run(command)).toMatchObject({
      code: 2,
      error: expect.stringContaining('--numbers without a terminal needs --yes'),
    });
    expect(await run(`doctor --config 7 --key k --url ${url} --context x`)).toMatchObject({
      code: 2,
      error: expect.stringContaining('--context goes with --numbers'),
    });
  });

  it('leaves with 1 if a check failed', async () => {
    const findings = [finding('fail', 'do that')];
    answers[`POST ${path}/examine`] = { status: 200, body: { ok: false, findings } };
    const { code, out } = await run(`doctor --config 7 --key k --url ${url}`);
    expect(code).toBe(1);
    expect(out).toContain('✗ HTTP: seen\n    -> do that\n');
  });

  it.each([
    [404, { detail: 'Telephony configuration not found' }, 'Telephony configuration not found'],
    [502, 'a proxy', 'HTTP 502'],
    [200, { ok: true }, 'an answer that cannot be parsed'],
  ])('says what the gateway says: %i', async (status, body, said) => {
    answers[`POST ${path}/examine`] = { status, body };
    const { code, error } = await run(`doctor --config 7 --key k --url ${url}`);
    expect(code).toBe(1);
    expect(error).toBe(`The gateway at ${url} says: ${said}\n`);
  });

  it('says that the gateway cannot be reached', async () => {
    await new Promise((resolve) => server.close(resolve));
    const { code, error } = await run(`doctor --config 7 --key k --url ${url}`);
    expect(code).toBe(1);
    expect(error).toContain(`The gateway at ${url} cannot be reached: ECONNREFUSED.`);
  });
});
