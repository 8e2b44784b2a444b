import { describe, expect, it } from 'vitest';
import { withStore } from '../engines.ts';
import { withCampaigns } from './campaign-harness.ts';

describe('the counters of campaigns', () => {
  const test = withStore();
  const harness = withCampaigns(test);
  const contactsOf = async (id: string): Promise<number | undefined> =>
    (await test.store.contacts.counts([id])).get(id)?.contacts;

  it('are counted anew while a campaign can change, and once when it cannot', async () => {
    const { id } = await harness.create();
    await harness.contacts(id, 3);
    for (const state of ['created', 'syncing', 'running', 'paused', 'failed']) {
      await test.sql('update campaigns set state = $1', [state]);
      await test.sql('delete from campaign_contacts where row_number = 4');
      expect(await contactsOf(id), state).toBe(2);
      await harness.contacts(id, 3);
      expect(await contactsOf(id), state).toBe(3);
    }
    await test.sql("update campaigns set state = 'completed'");
    expect(await contactsOf(id)).toBe(3);
    const { id: other } = await harness.create();
    await harness.contacts(other, 1);
    await test.sql('delete from campaign_contacts where campaign_id = $1', [id]);
    const both = await test.store.contacts.counts([other, id, 'x']);
    expect([both.get(id)?.contacts, both.get(other)?.contacts, both.size]).toEqual([3, 1, 2]);
  });
});
