// Organizations on both engines. Source: contract §3.5 and §8.9.

import { describe, expect, it } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';

const WORKFLOW = {
  name: 'agent',
  definition: { nodes: [], edges: [] },
  configurations: {},
  templateContextVariables: {},
  triggerPaths: [],
};

describe.each(engines())('organizations on %s', (engine) => {
  const at = withStore(engine);
  const id = () => at.owner.organizationId;

  it('prefer nothing at first', async () => {
    expect(await at.store.organizations.preferences(id())).toEqual({
      testPhoneNumber: null,
      timezone: null,
      externalPbxIntegrationsEnabled: false,
    });
  });

  it('keep what a change leaves out, and remove what it sets to null', async () => {
    const { organizations } = at.store;
    const all = {
      testPhoneNumber: '+4712345678',
      timezone: 'Europe/Oslo',
      externalPbxIntegrationsEnabled: true,
    };
    expect(await organizations.setPreferences(id(), all)).toEqual(all);
    const changed = { ...all, timezone: null };
    expect(await organizations.setPreferences(id(), { timezone: null })).toEqual(changed);
    expect(await organizations.setPreferences(id(), {})).toEqual(changed);
    expect(await organizations.preferences(id())).toEqual(changed);
  });

  it('that are not there have no preferences', async () => {
    const { organizations } = at.store;
    for (const none of ['999999', 'abc', '0']) {
      expect(await organizations.preferences(none)).toBeUndefined();
      expect(await organizations.setPreferences(none, { timezone: 'UTC' })).toBeUndefined();
      expect(await organizations.dispositions(none)).toEqual([]);
    }
  });

  it('have the dispositions of all their workflows, each once, sorted', async () => {
    const { workflows, organizations } = at.store;
    const one = await workflows.create(at.owner, WORKFLOW);
    const two = await workflows.create(at.owner, WORKFLOW);
    for (const code of ['sold', 'Zebra', 'busy']) {
      await workflows.addDisposition(one.workflow.id, code);
    }
    for (const code of ['sold', 'callback']) {
      await workflows.addDisposition(two.workflow.id, code);
    }
    expect(await organizations.dispositions(id())).toEqual(['Zebra', 'busy', 'callback', 'sold']);
  });
});
