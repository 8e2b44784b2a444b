// Nonces of webhooks on both engines: each is taken once, also after a restart.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const nonce = { provider: 'plivo', nonce: 'n1', content: 'aa' };

describe.each(engines())('nonces of webhooks on %s', (engine) => {
  const at = withStore(engine);

  it('are taken once; a repeated delivery of the same content passes for two minutes', async () => {
    const { webhookNonces } = at.store;
    expect(await webhookNonces.claim(nonce)).toBe(true);
    expect(await webhookNonces.claim(nonce)).toBe(true);
    expect(await webhookNonces.claim({ ...nonce, content: 'bb' })).toBe(false);
    expect(await webhookNonces.claim({ ...nonce, provider: 'vobiz', content: 'bb' })).toBe(true);
    at.clock.advance(121_000);
    expect(await webhookNonces.claim(nonce)).toBe(false);
  });

  it('are refused if they are longer than any provider makes them', async () => {
    expect(await at.store.webhookNonces.claim({ ...nonce, nonce: 'n'.repeat(201) })).toBe(false);
  });

  it('has one id for the installation', async () => {
    const id = await at.store.telephony.installationId();
    expect(id).toMatch(/^[0-9a-f]{12}$/);
    expect(await at.store.telephony.installationId()).toBe(id);
  });
});
