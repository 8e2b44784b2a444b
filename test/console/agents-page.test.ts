// The pages of agents in a browser: from a template to a chat, two versions and their difference, and the file.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectAccessible, hasChromium, withConsole } from './browser.ts';

const FIXTURE = join('fixtures', 'workflows', 'appointment-reminder.json');
const EDITED = 'Greet the reader by name.';

describe.runIf(hasChromium())('the pages of agents', () => {
  const world = withConsole();
  const open = (path: string) => world.page.goto(`${world.gateway.url}/console${path}`);
  let agentId = '';

  it('create an agent from a template, and show its graph with the details of a node', async () => {
    const { page } = world;
    await open('/agents');
    await page.getByText('There is no agent yet').waitFor();
    await page.getByRole('button', { name: 'New agent' }).click();
    await expectAccessible(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Reception of the clinic');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Reception of the clinic' }).waitFor();
    agentId = page.url().split('/').at(-1) ?? '';
    expect(agentId).toMatch(/^\d+$/);
    await page.locator('.react-flow__node').nth(1).click();
    const panel = page.getByRole('region', { name: /^Node / });
    await panel.getByRole('heading', { name: 'Leads to' }).waitFor();
    await expectAccessible(page);
  });

  it('chat with the agent, and go back to an earlier message', async () => {
    const { page } = world;
    await page.getByRole('link', { name: 'Test', exact: true }).click();
    await page.getByRole('button', { name: 'Start the chat' }).click();
    const log = page.getByRole('log', { name: 'Messages' });
    await log.getByText('Agent').first().waitFor();
    for (const said of ['Hello there', 'I do not know']) {
      await page.getByLabel('What you say').fill(said);
      await page.getByRole('button', { name: 'Send' }).click();
      await log.getByText(said, { exact: true }).waitFor();
      await expect.poll(() => log.locator('[data-who=agent]').count()).toBeGreaterThan(1);
      await page.getByText('The agent answers …').waitFor({ state: 'detached' });
    }
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Say something else' }).nth(1).click();
    await expect.poll(() => log.locator('[data-who=caller]').count()).toBe(1);
    expect(await page.getByLabel('What you say').inputValue()).toBe('I do not know');
    await page.reload();
    await log.getByText('Hello there', { exact: true }).waitFor();
    expect(await log.locator('[data-who=caller]').count()).toBe(1);
  });

  it('tell what differs between two versions, publish the draft, and roll back', async () => {
    const { page, gateway, apiKey } = world;
    const root = `${gateway.url}/api/v1/workflow`;
    const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
    const agent = (await (await fetch(`${root}/fetch/${agentId}`, { headers })).json()) as {
      workflow_definition: { nodes: { type: string; data: { prompt: string } }[] };
    };
    const { nodes } = agent.workflow_definition;
    for (const node of nodes) if (node.type === 'startCall') node.data.prompt += `\n${EDITED}`;
    const body = JSON.stringify({ workflow_definition: agent.workflow_definition });
    expect((await fetch(`${root}/${agentId}`, { method: 'PUT', headers, body })).status).toBe(200);

    await open(`/agents/${agentId}/versions`);
    await page.getByRole('link', { name: 'Compare with 1' }).click();
    await page.getByRole('heading', { name: /From version 1 .* to 2/ }).waitFor();
    expect(await page.locator('[data-kind=added]').allInnerTexts()).toEqual([
      expect.stringContaining(EDITED),
    ]);
    expect(await page.locator('[data-kind=removed]').count()).toBe(0);
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Versions', exact: true }).click();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('button', { name: 'Roll back to 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('row', { name: /Version 3 published/ }).waitFor();
    await expectAccessible(page);
  });

  it('write an agent to a file, and take a file back as a new agent', async () => {
    const { page } = world;
    await open(`/agents/${agentId}/export`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('Reception-of-the-clinic-v3.json');
    const file = JSON.parse(readFileSync(await download.path(), 'utf8'));
    expect(file.workflow_definition.nodes.length).toBeGreaterThan(1);
    await expectAccessible(page);

    await open('/agents');
    await page.getByRole('button', { name: 'New agent' }).click();
    await page.getByLabel('Start from').selectOption('file');
    await page.getByLabel('File').setInputFiles(FIXTURE);
    await page.getByText('0 settings').waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'appointment-reminder' }).waitFor();
  });

  it('find, file and archive agents in their list', async () => {
    const { page } = world;
    await open('/agents');
    await page.getByLabel('Name').fill('APPOINT');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: 'Folders' }).click();
    await page.getByLabel('New folder').fill('Library');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel('Name of Library').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Actions for appointment-reminder' }).click();
    await page.getByRole('menuitem', { name: 'Move to a folder' }).click();
    await page.getByRole('dialog').getByLabel('Folder').selectOption('Library');
    await page.getByRole('button', { name: 'Move' }).click();
    await page.getByRole('cell', { name: 'Library' }).waitFor();
    await page.getByRole('button', { name: 'Actions for appointment-reminder' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByText('No agent matches').waitFor();
    await page.getByLabel('Status').selectOption('archived');
    await page.getByRole('cell', { name: 'archived' }).waitFor();
    await expectAccessible(page);
  });
});
