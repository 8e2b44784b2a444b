// Campaigns in a browser: a new one in steps from a file with faults to its end.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AcceptingTwilio, startAcceptingTwilio } from '../fakes/twilio/accepting-twilio.ts';
import { twilioRow } from '../fakes/twilio/row.ts';
import { agent, definition, edge, end, start } from '../workflow/definitions.ts';
import { expectAccessible, hasChromium, withConsole } from './browser.ts';

const NUMBER = '+14155550100';
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/** Index of the day after the next one: it is in no time zone today. */
const OTHER_DAY = (new Date().getUTCDay() + 1) % 7;
function csv(...lines: string[]) {
  return { name: 'contacts.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n')) };
}

describe.runIf(hasChromium())('campaigns', () => {
  const world = withConsole();
  const button = (name: string) => world.page.getByRole('button', { name, exact: true });

  let twilio: AcceptingTwilio | undefined;

  beforeAll(async () => {
    twilio = await startAcceptingTwilio(NUMBER);
    const configuration = twilioRow.configuration(twilio.url);
    const configurationId = await world.api.createConfiguration('Main', configuration, true);
    await world.api.addNumber(configurationId, { address: NUMBER });
    const greets = start('1', { prompt: 'Greet {{first_name}}.' });
    await world.api.createWorkflow(
      'Reminders',
      definition([greets, agent('2'), end('3')], [edge('1', '2'), edge('2', '3')]),
    );
  });
  afterAll(() => twilio?.close());

  it('says what to do without campaigns', async () => {
    const { page, gateway } = world;
    await page.goto(`${gateway.url}/console/campaigns`);
    await page.getByText('No campaigns yet').waitFor();
    await expectAccessible(page);
  });

  it('shows the faults of a file by row and column, and no way on', async () => {
    const { page } = world;
    await page.getByRole('link', { name: 'New campaign' }).click();
    await page.getByLabel('Name').fill('Reminders of May');
    const file = csv(
      'phone_number;first_name',
      '+14155550101;Ann',
      '0415;"B;o"',
      '+1 415 5550101;C;d',
    );
    await page.getByLabel('Contact file').setInputFiles(file);
    const faults = page.getByRole('region', { name: 'Faults of the file' }).locator('tbody tr');
    await faults.first().waitFor();
    expect(await faults.allInnerTexts()).toEqual([
      expect.stringMatching(
        /^3\tphone_number\t“0415” is no telephone number with a country code\tWrite .* \+14155550100\.$/,
      ),
      expect.stringMatching(/^4\t\tMore values than columns\tPut quotes around /),
      '4\tphone_number\tThe same number as in row 2\tDelete one of the two rows.',
    ]);
    expect(await page.getByRole('region', { name: 'First rows' }).innerText()).toContain('B;o');
    expect(await button('Next').isDisabled()).toBe(true);
    await expectAccessible(page);
  });

  it('shows what the gateway finds in the file for the agent', async () => {
    const { page } = world;
    const file = csv('phone_number,name', '+14155550101,Ann');
    await page.getByLabel('Contact file').setInputFiles(file);
    await page.getByText('contacts.csv: 1 contact').waitFor();
    await button('Next').click();
    await page.getByLabel('Agent', { exact: true }).selectOption('Reminders');
    const faults = page.getByRole('region', { name: 'Faults of the file' }).locator('tbody tr');
    await faults.first().waitFor();
    expect(await faults.allInnerTexts()).toEqual([
      expect.stringMatching(/^1\tfirst_name\tThe agent has a template variable .*\tAdd a column/),
    ]);
    expect(await button('Next').isDisabled()).toBe(true);
    await expectAccessible(page);
    await button('Back').click();
  });

  it('creates a campaign with hours and retries', async () => {
    const { page } = world;
    const file = csv('phone_number,first_name', '+14155550101,Ann', '+14155550102,Bo');
    await page.getByLabel('Contact file').setInputFiles(file);
    await page.getByText('contacts.csv: 2 contacts').waitFor();
    await button('Next').click();
    await button('Next').click();
    await page.getByLabel('Call only within these hours').check();
    await page.getByLabel('Time zone').fill('Nowhere/Nothing');
    for (const [day, name] of DAYS.entries())
      await page.getByLabel(name, { exact: true }).setChecked(day === OTHER_DAY);
    await page.getByLabel('Further calls').fill('3');
    await expectAccessible(page);
    await button('Create the campaign').click();
    await page.getByRole('alert').filter({ hasText: 'Invalid timezone' }).waitFor();
    world.faults.length = 0; // Chromium reports the answer 422.
    await page.getByLabel('Time zone').fill('UTC');
    await button('Create the campaign').click();
    await page.getByText('It is not started').waitFor();
    const settings = await page.getByRole('region', { name: 'Settings' }).innerText();
    expect(settings).toContain(`${DAYS[OTHER_DAY]} 09:00–17:00, UTC`);
    expect(settings).toContain('3, each 2 min later, on busy, no answer');
  });

  it('starts after a question, says why it waits and until when, pauses and resumes', async () => {
    const { page } = world;
    const dialog = page.getByRole('dialog');
    await button('Start').click();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByText(/It waits until .* 09:00 UTC\. It continues at/).waitFor();
    await page.getByText('0 of 2 contacts called').waitFor();
    await page.locator('.chart canvas').waitFor();
    await expectAccessible(page);
    await button('Pause').click();
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('It is paused').waitFor();
    await button('Resume').click();
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The campaign was resumed').waitFor();
  });

  /** One contact does not answer: the redial is a campaign for it alone, and each leads to the other. */
  async function redialOne(): Promise<void> {
    const { page, database, organizationId } = world;
    await database.query(
      `update campaign_contacts set state = 'failed', attempts = 1, last_outcome = 'no_answer'
      where phone_number = '+14155550102' and campaign_id in (select id from campaigns where organization_id = $1)`,
      [organizationId],
    );
    await button('Redial').click();
    await page.getByLabel('Name').fill('Reminders of June');
    await button('Create the campaign').click();
    await page.getByRole('heading', { name: 'Reminders of June' }).waitFor();
    await page.getByText('It is not started').waitFor();
    await page.getByText('0 of 1 contacts called').waitFor();
    await page.getByRole('link', { name: 'The campaign that it redials' }).click();
    await page.getByRole('link', { name: 'The campaign that redials it' }).waitFor();
    expect(await button('Redial').count()).toBe(0);
  }

  it('redials what a completed campaign did not reach, and has links to its runs and results', async () => {
    const { page, gateway, database, organizationId } = world;
    await database.query(
      "update campaigns set state = 'completed', completed_at = now() where organization_id = $1",
      [organizationId],
    );
    await button('Redial').click();
    await page.getByLabel('Those who were busy').uncheck();
    await expectAccessible(page);
    await button('Create the campaign').click();
    await page.getByRole('dialog').getByRole('alert').waitFor(); // Nobody was called.
    world.faults.length = 0; // Chromium reports the answer.
    await button('Close').click();
    await redialOne();
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Results as CSV' }).click();
    expect((await downloading).suggestedFilename()).toMatch(/^campaign_\d+_report\.csv$/);
    await page.getByRole('link', { name: 'Runs of this campaign' }).click();
    await page.getByText('More filters (1 set)').waitFor();
    await page.goto(`${gateway.url}/console/campaigns`);
    await page.getByRole('link', { name: 'Reminders of May' }).waitFor();
    await expectAccessible(page);
  });
});
