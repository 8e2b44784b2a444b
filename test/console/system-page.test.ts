// The state of the system and the API keys in a browser.

import { describe, expect, it } from 'vitest';
import { expectAccessible, hasChromium, withConsole } from './browser.ts';

describe.runIf(hasChromium())('the page of the system', () => {
  const world = withConsole();

  it('shows the gateway, its processes, what it uses, and faults of services', async () => {
    const { page, gateway, database, organizationId } = world;
    await database.query(
      `insert into service_faults (organization_id, job, service, kind, detail, run_id, first_at, last_at)
      select id, 'tts', 'cartesia', 'auth', 'The key is refused', 1, now(), now() from organizations where id = $1`,
      [organizationId],
    );
    await page.goto(`${gateway.url}/console/system`);
    const all = page.getByRole('region', { name: 'All gateways' });
    await all.getByText('answers').waitFor();
    await page.getByRole('heading', { name: /^Gateway / }).waitFor();
    const processes = page.getByRole('region', { name: /^Processes of / }).locator('tbody tr');
    expect((await processes.allInnerTexts()).join('\n')).toContain('api');
    await page.getByText('Calls meet faults of cartesia').waitFor();
    await page.getByText('The key is refused').waitFor();
    const services = page.getByRole('region', { name: 'Services', exact: true });
    await services.getByText('flite, speech synthesis').waitFor();
    await page.getByText(/^\d+ further rules$/).click();
    const alerts = page.getByRole('region', { name: 'Alerts', exact: true }).locator('tbody tr');
    const shown = await alerts.allInnerTexts();
    expect(shown).toHaveLength(21);
    expect(shown.find((row) => row.startsWith('EventsLost'))).toContain('quiet');
    expect(shown.find((row) => row.startsWith('GatewayDown'))).toContain('by Prometheus alone');
    // A gateway with a database of its own has a condition, too.
    await page.getByText('not asked lately').or(page.getByText('not used')).first().waitFor();
    expect(await page.getByText('It has not reported its state').count()).toBe(0);
    await expectAccessible(page);
  });

  it('creates an API key, which it shows once, and archives and reactivates it', async () => {
    const { page, gateway } = world;
    const statusOf = async (key: string) => {
      const headers = { 'X-API-Key': key };
      return (await fetch(`${gateway.url}/api/v1/campaign`, { headers })).status;
    };
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Back office');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create the key' }).click();
    const code = page.getByRole('region', { name: 'API key' }).locator('pre');
    const key = await code.innerText();
    await expectAccessible(page);
    expect(await statusOf(key)).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(key);

    const row = page.getByRole('row', { name: /Back office/ });
    await row.getByRole('button', { name: 'Archive' }).click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await row.getByText('archived').waitFor();
    expect(await statusOf(key)).toBe(401);
    await row.getByRole('button', { name: 'Reactivate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
    await row.getByText('in use').waitFor();
    expect(await statusOf(key)).toBe(200);
    await expectAccessible(page);
  });
});
