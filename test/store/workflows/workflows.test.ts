// Workflows, versions and triggers on both engines. Source: contract §5.1 and §5.2.

import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { Workflow } from '../../../src/model/workflow.ts';
import { engines } from '../databases.ts';
import { type TestStore, withStore } from '../engines.ts';
import { before, statementsSent } from '../sent-statements.ts';

const DEFINITION = {
  nodes: [{ id: '1', type: 'startCall', position: { x: 0, y: 0 }, data: { name: 'Start', b: 1 } }],
  edges: [],
  viewport: { zoom: 1, x: 0 },
};

async function create(at: TestStore, name: string, triggerPaths: string[]): Promise<Workflow> {
  const { workflow } = await at.store.workflows.create(at.owner, {
    name,
    triggerPaths,
    definition: DEFINITION,
    configurations: { max_call_duration: 60, unknown: { kept: true } },
    templateContextVariables: { company: 'Acme' },
  });
  return workflow;
}

async function codeFrom(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => codeOf(error) ?? String(error),
  );
}

describe.each(engines())('workflows on %s', (engine) => {
  const at = withStore(engine);

  it('begins with version 1, published', async () => {
    const workflow = await create(at, 'Desk', []);
    expect(workflow).toMatchObject({ name: 'Desk', status: 'active', dispositionCodes: [] });
    const version = await at.store.workflows.published(workflow.id);
    expect(version).toMatchObject({ versionNumber: 1, status: 'published' });
    expect(version?.publishedAt).toEqual(new Date(at.clock.now()));
    expect(await at.store.workflows.draft(workflow.id)).toBeUndefined();
  });

  it('reads a version that calls use once, and a draft each time', async () => {
    const { workflows } = at.store;
    const { id } = await create(at, 'Desk', []);
    const published = await workflows.published(id);
    const draft = await workflows.saveDraft(id, { configurations: { a: 1 } });
    const read = async (versionId = '') => {
      const sent = statementsSent();
      const version = await workflows.version(id, versionId);
      sent.stop();
      return { version, statements: sent.texts.length };
    };
    expect(await read(published?.id)).toEqual({ version: published, statements: 1 });
    expect(await read(published?.id)).toEqual({ version: published, statements: 0 });
    for (const a of [2, 3]) {
      await workflows.saveDraft(id, { configurations: { a } });
      const { version, statements } = await read(draft.id);
      expect([version?.configurations, statements]).toEqual([{ a }, 1]);
    }
    await workflows.publish(id);
    // The next call gets the new one, a running one keeps its own.
    expect((await workflows.inService(at.owner.organizationId, id))?.id).toBe(draft.id);
    expect((await read(published?.id)).version).toEqual(published);
    const other = await create(at, 'Other', []);
    expect(await workflows.version(other.id, published?.id ?? '')).toBeUndefined();
  });

  it('gives a definition back with its keys in their order', async () => {
    const workflow = await create(at, 'Desk', []);
    const version = await at.store.workflows.published(workflow.id);
    expect(JSON.stringify(version?.definition)).toBe(JSON.stringify(DEFINITION));
    expect(version?.configurations).toEqual({ max_call_duration: 60, unknown: { kept: true } });
  });

  it('gives a version with services of its own, in clear, and no other one', async () => {
    const { workflows } = at.store;
    const found = async (configurations: Record<string, unknown>, data: object = {}) => {
      const [node] = DEFINITION.nodes;
      const definition = { nodes: [{ ...node, data: { ...node?.data, ...data } }], edges: [] };
      const { version } = await workflows.create(at.owner, {
        name: 'Desk',
        triggerPaths: [],
        templateContextVariables: {},

        definition: definition as never,
        configurations,
      });
      const given = await workflows.withServices(version.id);
      expect(given === undefined || given.id === version.id).toBe(true);
      return given && { ...given.configurations, ...given.definition.nodes[0]?.data };
    };
    const key = { stt: { provider: 'deepgram', api_key: 'key-0123456789' } };
    const override = { model_configuration_v2_override: { byok: { pipeline: key } } };
    expect(await found({ max_call_duration: 60 })).toBeUndefined();
    expect(await found(override)).toMatchObject(override);
    expect(await found({ model_overrides: key })).toMatchObject({ model_overrides: key });
    expect(await found({}, { language: 'fr' })).toMatchObject({ language: 'fr' });
    expect(await found({}, { voice: 'v' })).toMatchObject({ voice: 'v' });
    expect(await found({}, { model_overrides: key })).toMatchObject({ model_overrides: key });
    expect(await workflows.withServices('no-id')).toBeUndefined();
  });

  it('seals the secrets of nodes and settings, and opens them in every version', async () => {
    const { workflows } = at.store;
    const keyed = (key: string) => ({
      nodes: [{ id: 'q', type: 'qa', data: { name: 'Q', qa_api_key: key } }],
      edges: [],
    });
    const settings = { voicemail_detection: { api_key: 'sk-settings', model: 'm' } };
    const { workflow, version } = await workflows.create(at.owner, {
      name: 'Sealed',
      triggerPaths: [],
      definition: keyed('sk-first'),
      configurations: settings,
      templateContextVariables: {},
    });
    expect(version).toMatchObject({ definition: keyed('sk-first'), configurations: settings });
    const draft = await workflows.createDraft(workflow.id);
    expect(draft).toMatchObject({ definition: keyed('sk-first'), configurations: settings });
    await workflows.saveDraft(workflow.id, { definition: keyed('sk-second') });
    const changed = { definition: keyed('sk-second'), configurations: settings };
    expect(await workflows.draft(workflow.id)).toMatchObject(changed);
    expect(await workflows.draftOrPublished(workflow.id)).toMatchObject(changed);
    await workflows.saveDraft(workflow.id, { configurations: {} });
    const published = await workflows.publish(workflow.id);
    expect(published).toMatchObject({ definition: keyed('sk-second'), configurations: {} });
    expect(await workflows.draftOrPublished(workflow.id)).toEqual(published);
    const versions = await workflows.versions(workflow.id, { limit: 10, offset: 0 });
    expect(versions.map(({ definition }) => definition)).toEqual([
      keyed('sk-second'),
      keyed('sk-first'),
    ]);
    expect(await workflows.version(workflow.id, version.id)).toMatchObject({
      definition: keyed('sk-first'),
    });
    const rows = await at.sql(
      'select definition::text, configurations::text, sealed_fields from workflow_versions',
    );
    expect(JSON.stringify(rows)).not.toMatch(/sk-(first|second|settings)/);
    expect(JSON.stringify(rows)).toContain('sealed:');
  });

  it('gives secrets back that came with text no database takes', async () => {
    const definition = {
      nodes: [{ id: 'q', type: 'qa', data: { 'a\u0000': { api_key: 'sk\u0000-1' } } }],
      edges: [],
    };
    const { version } = await at.store.workflows.create(at.owner, {
      name: 'Odd',
      triggerPaths: [],
      definition,
      configurations: {},
      templateContextVariables: {},
    });
    expect(version.definition.nodes[0]?.data).toEqual({ a: { api_key: 'sk-1' } });
  });

  it('is counted by status and filed in folders of its organization', async () => {
    const { workflows, folders } = at.store;
    const { organizationId } = at.owner;
    const [callService, other] = [await create(at, 'Desk', []), await create(at, 'Other', [])];
    await workflows.setStatus(organizationId, other.id, 'archived');
    expect(await workflows.count(organizationId)).toEqual({ active: 1, archived: 1 });
    expect(await workflows.count('999')).toEqual({ active: 0, archived: 0 });
    const folder = await folders.create(organizationId, 'Sales');
    const moved = await workflows.moveToFolder(organizationId, callService.id, folder.id);
    expect(moved).toEqual({ ...callService, folderId: folder.id });
    expect(await workflows.moveToFolder('999', callService.id, folder.id)).toBeUndefined();
    expect(await folders.delete(organizationId, folder.id)).toBe(true);
    expect(await workflows.get(organizationId, callService.id)).toEqual(callService);
    for (const id of [folder.id, 'x', '0']) {
      const moving = workflows.moveToFolder(organizationId, callService.id, id);
      expect(await codeFrom(moving), id).toBe('FOLDER_NOT_FOUND');
    }
    expect(await workflows.moveToFolder(organizationId, callService.id, null)).toEqual(callService);
  });

  it('copies what is not sent from the published version into a new draft', async () => {
    const { id } = await create(at, 'Desk', []);
    const draft = await at.store.workflows.saveDraft(id, { templateContextVariables: { a: 1 } });
    expect(draft).toMatchObject({ versionNumber: 2, status: 'draft', publishedAt: null });
    expect(draft.definition).toEqual(DEFINITION);
    expect(draft.templateContextVariables).toEqual({ a: 1 });
    const again = await at.store.workflows.saveDraft(id, { configurations: {} });
    expect(again).toMatchObject({ id: draft.id, versionNumber: 2, configurations: {} });
    expect(again.templateContextVariables).toEqual({ a: 1 });
  });

  it('makes one draft, with any number of concurrent requests', async () => {
    const { id } = await create(at, 'Desk', []);
    const drafts = await Promise.all([1, 2, 3, 4, 5].map(() => at.store.workflows.createDraft(id)));
    expect(new Set(drafts.map((draft) => draft.id)).size).toBe(1);
    expect(drafts[0]?.versionNumber).toBe(2);
  });

  it('has exactly one published version; the former becomes archived', async () => {
    const { id } = await create(at, 'Desk', []);
    expect(await codeFrom(at.store.workflows.publish(id))).toBe('WORKFLOW_NO_DRAFT');
    await at.store.workflows.createDraft(id);
    at.clock.advance(1_000);
    const published = await at.store.workflows.publish(id);
    expect(published).toMatchObject({ versionNumber: 2, status: 'published' });
    expect(published.publishedAt).toEqual(new Date(at.clock.now()));
    await at.store.workflows.createDraft(id);
    const versions = await at.store.workflows.versions(id, { limit: 10, offset: 0 });
    expect(versions.map((each) => [each.versionNumber, each.status])).toEqual([
      [3, 'draft'],
      [2, 'published'],
      [1, 'archived'],
    ]);
    const page = await at.store.workflows.versions(id, { limit: 1, offset: 1 });
    expect(page.map((each) => each.versionNumber)).toEqual([2]);
  });

  it('takes calls with the published version while it is active', async () => {
    const { id } = await create(at, 'Desk', []);
    const { workflows } = at.store;
    const { organizationId } = at.owner;
    await workflows.createDraft(id);
    expect(await workflows.inService(organizationId, id)).toEqual(await workflows.published(id));
    expect(await workflows.inService('999999', id)).toBeUndefined();
    expect(await workflows.inService(organizationId, 'abc')).toBeUndefined();
    await workflows.setStatus(organizationId, id, 'archived');
    expect(await workflows.inService(organizationId, id)).toBeUndefined();
  });

  it('never uses a version number again', async () => {
    const { id } = await create(at, 'Desk', []);
    await at.store.workflows.createDraft(id);
    await at.sql("delete from workflow_versions where status = 'draft'");
    expect((await at.store.workflows.createDraft(id)).versionNumber).toBe(3);
  });

  it('has one publisher win when two publish the same draft', async () => {
    const { id } = await create(at, 'Desk', []);
    await at.store.workflows.createDraft(id);
    const codes = await Promise.all([1, 2].map(() => codeFrom(at.store.workflows.publish(id))));
    expect(codes.sort()).toEqual(['WORKFLOW_NO_DRAFT', undefined].sort());
  });

  it('owns each trigger path once, across organizations', async () => {
    await create(at, 'One', ['path-a']);
    expect(await codeFrom(create(at, 'Two', ['path-b', 'path-a']))).toBe('WORKFLOW_CONFLICT');
    // Nothing of the refused one is left.
    expect(await at.store.workflows.findTrigger('path-b')).toBeUndefined();
    const list = await at.store.workflows.list(at.owner.organizationId, ['active', 'archived']);
    expect(list.map(({ name }) => name)).toEqual(['One']);
  });

  it('gives one of two workflows a path that both want at the same moment', async () => {
    const codes = await Promise.all(
      ['A', 'B', 'C'].map((name) => codeFrom(create(at, name, ['same', `own-${name}`]))),
    );
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 'WORKFLOW_CONFLICT')).toHaveLength(2);
  });

  it('keeps a path in use while the published version or the draft has it', async () => {
    const { id } = await create(at, 'Desk', ['old']);
    const { workflows } = at.store;
    const isActive = async (path: string): Promise<boolean | undefined> =>
      (await workflows.findTrigger(path))?.isActive;
    await workflows.saveDraft(id, { triggerPaths: ['new'] });
    expect([await isActive('old'), await isActive('new')]).toEqual([true, true]);
    await workflows.publish(id);
    expect([await isActive('old'), await isActive('new')]).toEqual([false, true]);
    expect((await workflows.findTrigger('old'))?.workflow.id).toBe(id);
    // An archived path stays its workflow's and comes back with it.
    expect(await codeFrom(create(at, 'Thief', ['old']))).toBe('WORKFLOW_CONFLICT');
    await workflows.saveDraft(id, { triggerPaths: ['old', 'new'] });
    expect(await isActive('old')).toBe(true);
    expect(await workflows.takenTriggers(['old', 'free', 'new'], null)).toEqual(['new', 'old']);
    expect(await workflows.takenTriggers(['old', 'free', 'new'], id)).toEqual([]);
  });

  it('finds by uuid, renames, archives', async () => {
    const workflow = await create(at, 'Desk', []);
    const { workflows } = at.store;
    const org = at.owner.organizationId;
    expect(await workflows.findByUuid(workflow.uuid)).toEqual(workflow);
    expect(await workflows.findByUuid('nobody')).toBeUndefined();
    expect((await workflows.rename(org, workflow.id, 'New'))?.name).toBe('New');
    expect((await workflows.setStatus(org, workflow.id, 'archived'))?.status).toBe('archived');
    expect(await workflows.list(org, ['active'])).toEqual([]);
    expect(await workflows.list(org, [])).toEqual([]);
    expect(await workflows.list(org, ['archived'])).toMatchObject([{ name: 'New', totalRuns: 0 }]);
  });

  it('keeps at most 500 dispositions, and none that is no code', async () => {
    const { id } = await create(at, 'Desk', []);
    const codes = Array.from({ length: 499 }, (_each, index) => `c${index}`);
    await at.sql('update workflows set disposition_codes = $2 where id = $1', [id, codes]);
    for (const code of ['', 'x'.repeat(101), 'a\0b', 'one too many']) {
      await at.store.workflows.addDisposition(id, code);
    }
    const read = await at.store.workflows.get(at.owner.organizationId, id);
    expect(read?.dispositionCodes).toEqual([...codes, 'ab']);
  });

  it('keeps each disposition once', async () => {
    const { id } = await create(at, 'Desk', []);
    for (const code of ['busy', 'sold', 'busy']) await at.store.workflows.addDisposition(id, code);
    const read = await at.store.workflows.get(at.owner.organizationId, id);
    expect(read?.dispositionCodes).toEqual(['busy', 'sold']);
  });

  it('gives an agent with its version in one statement, to its organization alone', async () => {
    const { workflows } = at.store;
    const workflow = await create(at, 'Desk', []);
    const { uuid, organizationId } = workflow;
    const asked = { organizationId, uuid };
    const version = await workflows.published(workflow.id);
    const sent = statementsSent();
    expect(await workflows.findAgent(asked, ['draft', 'published'])).toEqual({ workflow, version });
    sent.stop();
    expect(sent.verbs).toEqual(['select']);
    const draft = await workflows.saveDraft(workflow.id, { configurations: { a: 1 } });
    const either = await workflows.findAgent(asked, ['draft', 'published']);
    expect(either?.version).toEqual(draft);
    expect((await workflows.findAgent(asked, ['published']))?.version).toEqual(version);
    const other = { uuid, organizationId: '999999' };
    expect(await workflows.findAgent(other, ['published'])).toBeUndefined();
    expect(await workflows.findAgent({ ...asked, uuid: 'nobody' }, ['published'])).toBeUndefined();
  });

  it('asks once whether a disposition is listed', async () => {
    const { id } = await create(at, 'Desk', []);
    const { workflows } = at.store;
    await workflows.addDisposition(id, 'busy');
    const sent = statementsSent();
    await workflows.addDisposition(id, 'busy');
    expect(sent.verbs).toEqual([]);
    await workflows.addDisposition(id, 'sold');
    sent.stop();
    expect(sent.verbs).toEqual(['update']);
  });

  it('lists a disposition that could not be listed before', async () => {
    const { id, organizationId } = await create(at, 'Desk', []);
    const { workflows } = at.store;
    const away = before(/disposition_codes/, () => Promise.reject(new Error('Query read timeout')));
    await expect(workflows.addDisposition(id, 'busy')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    away.stop();
    await workflows.addDisposition(id, 'busy');
    expect((await workflows.get(organizationId, id))?.dispositionCodes).toEqual(['busy']);
  });

  it('finds nothing for ids of other organizations and impossible ids', async () => {
    const { id } = await create(at, 'Desk', []);
    const { workflows } = at.store;
    expect(await workflows.get('999999', id)).toBeUndefined();
    expect(await workflows.get(at.owner.organizationId, 'abc')).toBeUndefined();
    expect(await workflows.rename('999999', id, 'x')).toBeUndefined();
    expect(await workflows.setStatus('999999', id, 'archived')).toBeUndefined();
    expect(await workflows.version(id, '999999')).toBeUndefined();
    expect(await workflows.published('abc')).toBeUndefined();
    expect(await codeFrom(workflows.createDraft('999999'))).toBe('WORKFLOW_NOT_FOUND');
    expect(await codeFrom(workflows.saveDraft('abc', {}))).toBe('WORKFLOW_NOT_FOUND');
  });

  it('stores text that PostgreSQL cannot, without what it cannot', async () => {
    const { workflow, version } = await at.store.workflows.create(at.owner, {
      name: 'De\0sk',
      triggerPaths: [],
      definition: { nodes: [], edges: [], note: 'a\0b \ud800 \\u0000' },
      configurations: { 'k\0': 'v' },
      templateContextVariables: {},
    });
    expect(workflow.name).toBe('Desk');
    expect(version.definition).toMatchObject({ note: 'ab \ufffd \\u0000' });
    expect(version.configurations).toEqual({ k: 'v' });
  });
});
