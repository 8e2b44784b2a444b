// The pages of telephony in a browser: a PBX with its numbers, doctor and files, and a provider with trunks.

import { describe, expect, it, onTestFinished } from 'vitest';
import { cloudonixRow } from '../fakes/cloudonix/row.ts';
import { freePort } from '../fakes/free-port.ts';
import { expectAccessible, hasChromium, withConsole } from './browser.ts';

const SECRET = 'a-password-of-the-pbx';

describe.runIf(hasChromium())('the pages of telephony', () => {
  const world = withConsole();
  const open = (path: string) => world.page.goto(`${world.gateway.url}/console${path}`);
  let pbx = '';

  it('create a configuration, with the faults of its fields beside them', async () => {
    const { page } = world;
    await open('/telephony');
    await page.getByText('There is no configuration yet').waitFor();
    await page.getByRole('button', { name: 'New configuration' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Provider').selectOption('ari');
    await dialog.getByLabel('Name', { exact: true }).fill('PBX of the branch');
    await dialog.getByLabel('ARI address').fill('http://127.0.0.1:1/ari');
    await dialog.getByLabel('ARI user').fill('patchbay');
    await dialog.getByLabel('ARI password').fill(SECRET);
    await dialog.getByRole('button', { name: 'Save' }).click();
    const address = dialog.getByLabel('ARI address');
    await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
    await dialog.getByText('give the address of the server alone').first().waitFor();
    world.faults.length = 0; // Chromium reports the answer 422.
    await expectAccessible(page);
    await address.fill(`http://127.0.0.1:${await freePort()}`);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'PBX of the branch' }).waitFor();
    pbx = page.url().split('/').at(-1) ?? '';
  });

  it('add a number, and route it to an agent', async () => {
    const { page, api } = world;
    await api.createWorkflow('Reception', {
      nodes: [
        {
          id: '1',
          type: 'startCall',
          data: { name: 'Start', prompt: 'Greet.', greeting: 'Hello' },
        },
        { id: '2', type: 'endCall', data: { name: 'End', prompt: 'Say goodbye.' } },
      ],
      edges: [
        { id: 'e', source: '1', target: '2', data: { label: 'done', condition: 'All is said' } },
      ],
    });
    await page.getByRole('button', { name: 'Add a number' }).click();
    await page.getByLabel('Number', { exact: true }).fill('1000');
    await page.getByLabel('Country').fill('US');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /1000 nobody active/ }).waitFor();
    await page.getByRole('button', { name: 'Actions for 1000' }).click();
    await page.getByRole('menuitem', { name: 'Edit and route' }).click();
    await page.getByLabel('Agent that answers its calls').selectOption('Reception');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /1000 Reception active/ }).waitFor();
    await expectAccessible(page);
  });

  it('let the doctor say what is wrong, and what to do', async () => {
    const { page } = world;
    await page.getByRole('link', { name: 'Doctor' }).first().click();
    await page.getByRole('button', { name: 'Examine' }).click();
    const findings = page.getByRole('list', { name: 'Findings' });
    await findings.getByText('fault').first().waitFor({ timeout: 60_000 });
    expect(await findings.locator('.advice').count()).toBeGreaterThan(0);
    await expectAccessible(page);
  });

  it('show the files of the PBX for each way, and never its password', async () => {
    const { page } = world;
    await page.getByRole('link', { name: 'PBX files' }).click();
    await page.getByRole('region', { name: 'ari.conf', exact: true }).waitFor();
    expect(await page.getByText('[patchbay]').count()).toBeGreaterThan(0);
    await page.getByLabel('Connection mode').selectOption('incoming');
    await page.getByText('Asterisk connects for both.').waitFor();
    await page.getByLabel('FreePBX').check();
    await page.getByRole('heading', { name: 'In the web interface of FreePBX' }).waitFor();
    expect(await page.content()).not.toContain(SECRET);
    await expectAccessible(page);
  });

  it('edit a configuration without its secret, and keep it', async () => {
    const { page } = world;
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('ARI password').inputValue()).toBe('');
    await dialog.getByLabel('Name', { exact: true }).fill('PBX of the town');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'PBX of the town', exact: true }).waitFor();
    expect(await world.api.stasisApp(pbx)).not.toBe('');
  });

  it('hold trunks of a provider, and its state in the list', async () => {
    const { page, api, gateway } = world;
    const cloud = await cloudonixRow.startFake({ gatewayUrl: gateway.url, numbers: [] });
    onTestFinished(() => cloud.close());
    const id = await api.createConfiguration(
      'Cloud',
      cloudonixRow.configuration(cloud.baseUrl),
      false,
    );
    await open(`/telephony/${id}/trunks`);
    await page.getByRole('button', { name: 'Add a trunk' }).click();
    await page.getByLabel('Name', { exact: true }).fill('second');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /second in use/ }).waitFor();
    await page.getByRole('link', { name: 'Routing' }).click();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('status').filter({ hasText: 'come here' }).waitFor();
    await page.getByRole('link', { name: 'Telephony' }).first().click();
    await page.getByRole('row', { name: /Cloud Cloudonix no outbound calls/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Actions for Cloud' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('row', { name: /Cloud / }).waitFor({ state: 'detached' });
  });
});
