// Parts of the page of a call that a usual call does not have: tools, faults, keys of both directions, no recording, no graph,
// a text chat. The runs are written into the database; the API reads them as any other.

import { beforeAll, describe, expect, it } from 'vitest';
import type { CallEventBody } from '../../src/model/call-event.ts';
import { inbound } from '../demo/scenario.ts';
import { agent, definition, edge, end, start } from '../workflow/definitions.ts';
import { expectAccessible, hasChromium, withConsole } from './browser.ts';
import { insertRuns } from './many-runs.ts';

const place = { nodeId: '1', nodeName: 'Start' };
const LOG: readonly [mediaMs: number, body: CallEventBody][] = [
  [
    0,
    {
      type: 'node.entered',
      ...entered('1', 'Start'),
      previousNodeId: null,
      previousNodeName: null,
    },
  ],
  [4_000, { type: 'dtmf', digit: '4' }],
  [4_400, { type: 'dtmf', digit: '2' }],
  [
    5_000,
    {
      type: 'user.turn',
      text: '42',
      source: 'dtmf',
      confidence: null,
      ...place,
      startMs: 4_000,
      endMs: 4_400,
    },
  ],
  [
    6_000,
    { type: 'function.called', callId: 'f1', name: 'find_patient', arguments: { number: '42' } },
  ],
  [
    6_350,
    { type: 'function.returned', callId: 'f1', name: 'find_patient', result: '{"found":true}' },
  ],
  [7_000, { type: 'fault', code: 'SERVICE_FAILED', message: 'The voice failed', fatal: false }],
  [
    20_000,
    {
      type: 'node.entered',
      ...entered('2', 'Search'),
      previousNodeId: '1',
      previousNodeName: 'Start',
    },
  ],
  [30_000, { type: 'digits.sent', digits: '1w#' }],
  [40_000, { type: 'call.ended', reason: 'user_hangup', by: 'caller', durationS: 40 }],
];

function entered(nodeId: string, nodeName: string) {
  return { nodeId, nodeName, allowInterrupt: true };
}

describe.runIf(hasChromium())('the page of a call', () => {
  const world = withConsole();
  let path = '';
  const part = (name: string) => world.page.getByRole('region', { name, exact: true });

  beforeAll(async () => {
    const { database, api, gateway } = world;
    const graph = definition([start('1'), agent('2'), end('3')], [edge('1', '2'), edge('2', '3')]);
    const { workflowId } = await insertRuns(world, { agent: graph, count: 1 });
    const [runId] = await api.runIds(workflowId);
    await database.query(
      `insert into run_events (run_id, seq, at, media_ms, body)
      select $1, row_number() over (), (extract(epoch from now()) * 1000)::bigint - 60000 + (each ->> 0)::float,
        (each ->> 0)::float, (each ->> 1)::json from json_array_elements($2::json) as each`,
      [runId, JSON.stringify(LOG)],
    );
    path = `${gateway.url}/console/runs/${workflowId}/${runId}`;
  }, 60_000);

  it('shows tools, faults and keys of a call without a recording', async () => {
    const { page } = world;
    await page.goto(path);
    const tool = part('Tools').locator('tbody tr');
    expect(await tool.innerText()).toMatch(/0:06\.0\s+find_patient\s+.*42.*\s+.*found.*\s+350/);
    expect(await part('Faults').innerText()).toContain('SERVICE_FAILED');
    await page.getByText('This call has no recording').waitFor();
    expect(await page.getByRole('button', { name: 'Play', exact: true }).count()).toBe(0);
    const transcript = page.getByRole('log', { name: 'Transcript' });
    expect(await transcript.locator('[data-kind=sent]').textContent()).toMatch(/Keys sent\s*1w#/);
    expect(await transcript.locator('[data-kind=keys]').textContent()).toMatch(/Keys\s*42/);
    await page
      .getByRole('img', { name: /presses 2 keys,.* 3 keys are sent;.* 1 tools, 1 faults/ })
      .waitFor();
    await expectAccessible(page);
  });

  it('zooms the axis, and moves it to a moment that is chosen', async () => {
    const { page } = world;
    const timeline = page.locator('.timeline');
    const whole = timeline.getByRole('button', { name: 'Whole call' });
    const picture = () => timeline.locator('canvas').screenshot();
    await part('Tools').getByRole('button', { name: '0:06.0' }).click();
    const before = await picture();
    for (let times = 0; times < 3; times += 1)
      await timeline.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(async () => (await picture()).equals(before)).toBe(false);
    const early = await picture();
    await page.getByRole('log').locator('[data-kind=sent]').click();
    await expect.poll(async () => (await picture()).equals(early)).toBe(false);
    expect(await page.getByRole('slider').inputValue()).toBe('30000');
    expect(await page.locator('.here').innerText()).toContain('Search');
    await part('Tools').getByRole('button', { name: '0:06.0' }).click();
    await whole.click();
    await expect.poll(async () => (await picture()).equals(before)).toBe(true);
    expect(await whole.isDisabled()).toBe(true);
  });

  it('shows the path alone where the version is gone', async () => {
    const { page } = world;
    await page.route('**/versions/*', (route) => route.fulfill({ status: 404, json: {} }));
    await page.goto('about:blank');
    await page.goto(path);
    const nodes = page.getByRole('list', { name: 'Path of the call' }).getByRole('listitem');
    await expect.poll(() => nodes.allInnerTexts()).toEqual(['Start', 'Search']);
    await expectAccessible(page);
    await page.unroute('**/versions/*');
    world.faults.length = 0; // Chromium reports the answer 404.
  });

  it('shows a text chat without sound', async () => {
    const { page, gateway, api, apiKey } = world;
    const { id } = await api.createWorkflow('Chats', inbound.definition);
    const ask = async (way: string, body: object) => {
      const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
      const root = `${gateway.url}/api/v1/workflow/${id}/text-chat/sessions`;
      const answer = await fetch(root + way, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as { workflow_run_id: string };
    };
    const { workflow_run_id: chat } = await ask('', {});
    await ask(`/${chat}/messages`, { text: 'Good morning' });
    await ask(`/${chat}/end`, {});
    await page.goto(`${gateway.url}/console/runs/${id}/${chat}`);
    const transcript = page.getByRole('log', { name: 'Transcript' });
    await transcript.getByText('Good morning').waitFor();
    await part('Why it ended').waitFor();
    await part('Facts').getByText('text chat').waitFor();
    for (const name of ['Sound', 'Answers']) expect(await part(name).count()).toBe(0);
    await expectAccessible(page);
  });
});
