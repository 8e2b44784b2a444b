import { beforeEach, describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';
import { type CampaignHarness, campaignHarness } from './campaign-harness.ts';

const served = withApi();
let harness: CampaignHarness;
beforeEach(async () => {
  harness = await campaignHarness(served);
});

const PATH = '/campaign/contacts/preview';
const pathOf = (query: Record<string, string>) => `${PATH}?${new URLSearchParams(query)}`;
const preview = (query: Record<string, string>) => served.ok('GET', pathOf(query));

describe('the preview of a contact file', () => {
  it('has its columns, first rows and counts, and makes no campaign', async () => {
    const sourceId = await harness.upload('phone_number;Name\n+14155550100;Ana\n;Ben\n');
    expect(await preview({ source_id: sourceId })).toEqual({
      columns: ['phone_number', 'name'],
      rows: [
        { row: 2, cells: ['+14155550100', 'Ana'] },
        { row: 3, cells: ['', 'Ben'] },
      ],
      row_count: 2,
      contact_count: 1,
      faults: [],
      fault_count: 0,
    });
    expect((await served.ok('GET', '/campaign')).total_count).toBe(0);
  });

  it('finds what a campaign of the agent would refuse, and nothing else', async () => {
    const sourceId = await harness.upload('phone_number,town\n+14155550100,Rome\n0415,\n');
    const { workflowId } = harness;
    const { faults, fault_count: count } = await preview({
      source_id: sourceId,
      workflow_id: workflowId,
    });
    expect(count).toBe(2);
    expect(faults).toEqual([
      {
        row: 1,
        column: 'name',
        code: 'VARIABLE_COLUMN_MISSING',
        message: expect.stringContaining('template variable'),
        remedy: expect.stringContaining('Add a column'),
      },
      {
        row: 3,
        column: 'phone_number',
        code: 'NUMBER_INVALID',
        message: '“0415” is no telephone number with a country code',
        remedy: expect.stringContaining('+14155550100'),
      },
    ]);
    const body = await harness.body({ source_id: sourceId });
    expect((await harness.refusal('POST', '/campaign/create', body))[0]).toBe(400);
  });

  it('of a large file is made by a thread', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `+1415${2_000_000 + i},N${i}`);
    const sourceId = await harness.upload(['phone_number,name', ...rows].join('\n'));
    const found = await preview({ source_id: sourceId });
    expect([found.row_count, found.contact_count, found.rows.length]).toEqual([20_000, 20_000, 20]);
  });

  it('is refused for a file that is not there, of another organization, or no file of contacts', async () => {
    const refusal = (query: Record<string, string>) => harness.refusal('GET', pathOf(query));
    const own = served.test.owner.organizationId;
    expect(await refusal({ source_id: `campaigns/${own}/none.csv` })).toEqual([
      400,
      expect.stringMatching(/^Failed to access CSV file/),
    ]);
    expect((await refusal({ source_id: 'campaigns/999999/a.csv' }))[0]).toBe(403);
    expect((await refusal({ source_id: '../secrets' }))[0]).toBe(400);
    expect((await refusal({}))[0]).toBe(422);
    const sourceId = await harness.upload('phone_number\n+14155550100\n');
    expect(await refusal({ source_id: sourceId, workflow_id: '999999' })).toEqual([
      404,
      'Workflow not found',
    ]);
  });
});
