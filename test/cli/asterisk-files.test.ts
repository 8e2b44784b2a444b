// The files that an administrator of Asterisk is given: what must be in them, by asterisk §1 and §2.6.

import { describe, expect, it } from 'vitest';
import {
  PRINTED_CONTEXT,
  PRINTED_LABELS,
} from '../../src/telephony/ari/doctor/dialplan-questions.ts';
import {
  ADMIN_MODES,
  type AdminMode,
  type AdminWishes,
  adminPlan,
  freePbxPlan,
} from '../../src/telephony/registry/asterisk-files.ts';

const wishes: AdminWishes = {
  mode: 'server',
  gatewayUrl: 'https://gw.example.com',
  user: 'patchbay',
  password: 'long-enough-secret',
  app: 'patchbay_0123456789ab',
  clientName: 'media_gw',
  context: 'patchbay-in',
  numbers: [],
  bind: '0.0.0.0',
  isTls: false,
};

type Sections = Record<string, Record<string, string>>;

/** As Asterisk reads it: sections of `name = value`, comments dropped. */
function sectionsOf(more: Partial<AdminWishes>, name: string): Sections {
  const file = adminPlan({ ...wishes, ...more }).files.find((each) => each.name === name);
  const sections: Sections = {};
  let section: Record<string, string> = {};
  for (const line of (file?.text ?? '').split('\n')) {
    const [, title] = /^\[([^\]]+)\]/.exec(line) ?? [];
    const [, key, value] = /^(\w+) = ([^;]*?)\s*(?:;.*)?$/.exec(line) ?? [];
    if (title !== undefined) {
      section = {};
      sections[title] = section;
    } else if (key !== undefined) section[key] = value ?? '';
  }
  return sections;
}

describe('the files for Asterisk', () => {
  it.each(ADMIN_MODES)('mode %s: HTTP server and a user who may write', (mode) => {
    expect(sectionsOf({ mode }, 'http.conf')).toMatchObject({
      general: { enabled: 'yes', bindport: '8088' },
    });
    expect(sectionsOf({ mode }, 'ari.conf')).toMatchObject({
      general: { enabled: 'yes' },
      patchbay: { type: 'user', read_only: 'no', password: 'long-enough-secret' },
    });
  });

  it('name a websocket client only where Asterisk dials the gateway', () => {
    const named = (mode: AdminMode) => adminPlan({ ...wishes, mode }).files.map(({ name }) => name);
    expect(ADMIN_MODES.filter((mode) => named(mode).includes('websocket_client.conf'))).toEqual([
      'client',
      'incoming',
    ]);
  });

  it('client: one connection per call to the gateway, with tls_enabled for wss://', () => {
    expect(sectionsOf({ mode: 'client' }, 'websocket_client.conf')).toEqual({
      media_gw: {
        type: 'websocket_client',
        connection_type: 'per_call_config',
        uri: 'wss://gw.example.com/api/v1/telephony/ws/ari/patchbay_0123456789ab',
        protocols: 'media',
        username: 'patchbay',
        password: 'long-enough-secret',
        connection_timeout: '500',
        reconnect_interval: '500',
        reconnect_attempts: '3',
        tls_enabled: 'yes',
        ca_list_file: '/etc/ssl/certs/ca-certificates.crt',
        verify_server_cert: 'yes',
        verify_server_hostname: 'yes',
      },
    });
    const plain = { mode: 'client', gatewayUrl: 'http://10.0.0.9:8000' } as const;
    expect(sectionsOf(plain, 'websocket_client.conf')['media_gw']).toMatchObject({
      uri: 'ws://10.0.0.9:8000/api/v1/telephony/ws/ari/patchbay_0123456789ab',
      tls_enabled: 'no',
    });
  });

  it('incoming: Asterisk keeps an events connection open for the application, by the same user', () => {
    expect(sectionsOf({ mode: 'incoming' }, 'ari.conf')['media_gw_events']).toEqual({
      type: 'outbound_websocket',
      websocket_client_id: 'media_gw_events',
      apps: 'patchbay_0123456789ab',
      subscribe_all: 'no',
      local_ari_user: 'patchbay',
    });
    const clients = sectionsOf({ mode: 'incoming' }, 'websocket_client.conf');
    expect(clients['media_gw_events']).toMatchObject({
      connection_type: 'persistent',
      uri: 'wss://gw.example.com/api/v1/telephony/pbx/patchbay_0123456789ab',
      protocols: 'ari',
    });
    expect(clients['media_gw']).toMatchObject({ connection_type: 'per_call_config' });
    expect(sectionsOf({ mode: 'incoming' }, 'http.conf')).toMatchObject({
      general: { bindaddr: '127.0.0.1' },
    });
  });

  it('TLS: the plain port is for the machine itself', () => {
    expect(sectionsOf({ isTls: true, bind: '::' }, 'http.conf')['general']).toMatchObject({
      bindaddr: '127.0.0.1',
      tlsenable: 'yes',
      tlsbindaddr: '[::]:8089',
    });
  });

  it('the dialplan passes calls to the application, and continues when it is not connected', () => {
    const text = adminPlan({ ...wishes, numbers: ['8000', '+15550100'] }).files.at(-1)?.text ?? '';
    expect(text).toContain('exten => 8000,1,Set(TIMEOUT(absolute)=60) ');
    expect(text).toContain('exten => +15550100,1,Set(TIMEOUT(absolute)=60) ');
    const stasis = ` same => n(stasis),Stasis(patchbay_0123456789ab,inbound,\${EXTEN},3600) `;
    expect(text.split(stasis)).toHaveLength(3);
    expect(text.split(' same => n(away),Set(TIMEOUT(absolute)=0)\n')).toHaveLength(3);
    expect(text.match(/\$\[".\{STASISSTATUS\}"="FAILED"\]\?away/g)).toHaveLength(2);
    expect(text).not.toContain('_[+0-9].');
    expect(adminPlan(wishes).files.at(-1)?.text).toContain('exten => _[+0-9].,1,');
  });

  it.each(ADMIN_MODES)(
    'mode %s: the PBX has a jitter buffer, unless RTP brings timestamps',
    (mode) => {
      const text = adminPlan({ ...wishes, mode, numbers: ['8000'] }).files.at(-1)?.text ?? '';
      const before = text.split(' same => n(stasis)')[0] ?? '';
      const line = ' same => n(jitter),Set(JITTERBUFFER(adaptive)=default) ';
      expect(before.includes(line)).toBe(mode !== 'rtp');
      expect(text.includes('JITTERBUFFER')).toBe(mode !== 'rtp');
    },
  );

  it('the doctor knows the labels and the context of the lines', () => {
    const text = adminPlan(wishes).files.at(-1)?.text ?? '';
    expect(text).toContain(`[${PRINTED_CONTEXT}] `);
    for (const label of Object.values(PRINTED_LABELS)) expect(text).toContain(`n(${label}),`);
  });

  it('the general sections complete those that the files have', () => {
    for (const { name, text } of adminPlan(wishes).files) {
      if (name === 'http.conf' || name === 'ari.conf') expect(text).toMatch(/^\[general\]\(\+\) /);
      expect(text).not.toMatch(/^\[general\]$/m);
    }
  });

  it('every file is reloaded, and what must be seen afterwards is named', () => {
    expect(adminPlan({ ...wishes, mode: 'client' }).reloads).toEqual([
      'module reload http',
      'module reload res_websocket_client.so',
      'module reload res_ari.so',
      'dialplan reload',
    ]);
    const commands = adminPlan(wishes).checks.map(({ command }) => command);
    expect(commands).toContain('http show status');
    expect(commands).toContain('module show like websocket');
    expect(commands).toContain('dialplan show 1000@patchbay-in');
  });

  it.each(ADMIN_MODES)('FreePBX, mode %s: only files that it does not write itself', (mode) => {
    const plan = freePbxPlan(adminPlan({ ...wishes, mode }), { ...wishes, mode });
    const dialsUs = mode === 'client' || mode === 'incoming';
    expect(plan.files.map(({ name }) => name)).toEqual([
      'ari_additional_custom.conf',
      ...(dialsUs ? ['websocket_client.conf'] : []),
      'extensions_custom.conf',
    ]);
    // ari.conf includes the file behind its own [general].
    for (const { text } of plan.files) expect(text).not.toContain('[general]');
    expect(plan.files[0]?.text).toMatch(/^\[patchbay\]\ntype = user\n/);
    expect(plan.shell).toEqual([
      'fwconsole setting HTTPENABLED 1',
      `fwconsole setting HTTPBINDADDRESS ${mode === 'incoming' ? '127.0.0.1' : '0.0.0.0'}`,
      'fwconsole setting ENABLE_ARI 1',
    ]);
    expect(plan.reloads[0]).toBe('fwconsole reload');
    expect(plan.reloads).toContain("asterisk -rx 'module reload res_ari.so'");
    expect(plan.steps.join('\n')).toContain('Custom Destinations: Target patchbay-in,8000,1;');
    expect(plan.configuration).toMatchObject({ dial_template: 'Local/{number}@from-internal/n' });
  });

  it('FreePBX with TLS: the plain server is for the machine itself', () => {
    const secure = { ...wishes, isTls: true, numbers: ['15550100'] };
    const plan = freePbxPlan(adminPlan(secure), secure);
    expect(plan.shell).toEqual([
      'fwconsole setting HTTPENABLED 1',
      'fwconsole setting HTTPBINDADDRESS 127.0.0.1',
      'fwconsole setting HTTPTLSENABLE 1',
      'fwconsole setting HTTPTLSBINDADDRESS 0.0.0.0',
      'fwconsole setting ENABLE_ARI 1',
    ]);
    expect(plan.steps[0]).toContain('Target patchbay-in,15550100,1;');
    expect(plan.steps.join()).toContain('Certificate Management');
  });

  it.each<[Partial<AdminWishes>, string]>([
    [{}, 'http://PBX:8088'],
    [{ isTls: true }, 'https://PBX:8089'],
    [{ mode: 'incoming' }, 'http://127.0.0.1:8088'],
    [{ endpoint: '' }, 'http://PBX:8088'],
    [{ endpoint: 'http://10.0.0.6:8088' }, 'http://10.0.0.6:8088'],
    [{ endpoint: 'http://10.0.0.6:9000' }, 'http://10.0.0.6:9000'],
    [{ endpoint: 'http://[2001:db8::6]:8088', isTls: true }, 'https://[2001:db8::6]:8089'],
    [{ endpoint: 'https://pbx.example.com', isTls: true }, 'https://pbx.example.com'],
    [{ endpoint: 'http://10.0.0.6:8088', mode: 'incoming' }, 'http://10.0.0.6:8088'],
  ])('with %j the address of the PBX is %s, in all modes of printing', (more, address) => {
    const given = { ...wishes, ...more };
    const plan = adminPlan(given);
    expect(plan.configuration['ari_endpoint']).toBe(address);
    expect(freePbxPlan(plan, given).configuration['ari_endpoint']).toBe(address);
  });

  it('TLS: the files and steps name the known address', () => {
    const given = { ...wishes, isTls: true, endpoint: 'https://pbx.example.com:8089' };
    const plan = adminPlan(given);
    expect(plan.files[0]?.text).toContain('is then https://pbx.example.com:8089\n');
    const steps = freePbxPlan(plan, given).steps.join();
    expect(steps).toContain('a certificate for the name in https://pbx.example.com:8089');
  });

  it.each([
    ['server', { media: 'websocket_server', connection: 'outgoing' }],
    ['client', { media: 'websocket_client', connection: 'outgoing', ws_client_name: 'media_gw' }],
    ['incoming', { media: 'websocket_client', connection: 'incoming', ws_client_name: 'media_gw' }],
    ['audiosocket', { media: 'audiosocket', connection: 'outgoing' }],
    ['rtp', { media: 'rtp', connection: 'outgoing' }],
  ] as const)('mode %s says what the configuration must have', (mode, expected) => {
    const { configuration } = adminPlan({ ...wishes, mode });
    expect(configuration).toMatchObject({ provider: 'ari', app_name: 'patchbay', ...expected });
    expect(JSON.stringify(configuration)).not.toContain(wishes.password);
  });
});
