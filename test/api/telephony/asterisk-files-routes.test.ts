import { describe, expect, it } from 'vitest';
import { adminPlan, PASSWORD_WANTED } from '../../../src/telephony/registry/asterisk-files.ts';
import { PUBLIC_URL, withApi } from '../served.ts';

const served = withApi();
const ROOT = '/organizations/telephony-configs';
const SECRET = 'the-password-of-the-pbx';

async function aPbx(more: Record<string, unknown> = {}): Promise<string> {
  const config = {
    provider: 'ari',
    ari_endpoint: 'https://pbx:8089',
    app_name: 'office',
    app_password: SECRET,
    ...more,
  };
  return (await served.ok('POST', ROOT, { name: 'pbx', config })).id;
}

describe('GET .../asterisk-files', () => {
  it('has what the command prints, without the password', async () => {
    const id = await aPbx();
    const { credentials } = await served.ok('GET', `${ROOT}/${id}`);
    const query = 'mode=rtp&numbers=100,%20200&context=from-trunk';
    const body = await served.ok('GET', `${ROOT}/${id}/asterisk-files?${query}`);
    const plan = adminPlan({
      mode: 'rtp',
      gatewayUrl: PUBLIC_URL,
      user: 'office',
      password: PASSWORD_WANTED,
      app: credentials.stasis_app_name,
      clientName: 'patchbay',
      context: 'from-trunk',
      numbers: ['100', '200'],
      bind: '0.0.0.0',
      isTls: true,
      endpoint: 'https://pbx:8089',
    });
    expect(body).toEqual({ mode: 'rtp', ...plan, password_placeholder: PASSWORD_WANTED });
    expect(JSON.stringify(body)).not.toContain(SECRET);
    const freePbx = await served.ok('GET', `${ROOT}/${id}/asterisk-files?freepbx=true`);
    expect(freePbx.steps).not.toEqual([]);
  });

  it('is refused for other providers, unusable words and other organizations', async () => {
    const id = await aPbx();
    const ask = async (path: string, key?: string) => {
      const answer = await served.call('GET', `/api/v1${ROOT}/${path}`, key ? { key } : {});
      return [answer.status, answer.body.code];
    };
    expect(await ask(`${id}/asterisk-files?context=a%0Ab`)).toEqual([400, 'ASTERISK_WORD_INVALID']);
    expect(await ask(`${id}/asterisk-files?numbers=x`)).toEqual([400, 'ASTERISK_WORD_INVALID']);
    expect((await ask(`${id}/asterisk-files?mode=other`))[0]).toBe(422);
    const config = { provider: 'plivo', auth_id: 'a', auth_token: 'b' };
    const other = await served.ok('POST', ROOT, { name: 'p', config });
    expect(await ask(`${other.id}/asterisk-files`)).toEqual([400, 'CONFIGURATION_NOT_ASTERISK']);
    const { apiKey } = await served.stranger();
    expect(await ask(`${id}/asterisk-files`, apiKey)).toEqual([404, 'CONFIGURATION_NOT_FOUND']);
  });
});
