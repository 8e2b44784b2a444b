import { expect, it } from 'vitest';
import { GraphCache } from '../../../src/call/start/call-planner.ts';
import type { WorkflowVersion } from '../../../src/model/workflow.ts';
import { agent, definition, edge, end, start } from '../../workflow/definitions.ts';

const small = definition([start('a', {}), end('b', {})], [edge('a', 'b', {})]);

function version(more: Partial<WorkflowVersion>): WorkflowVersion {
  return {
    id: '1',
    workflowId: '1',
    versionNumber: 1,
    status: 'published',
    definition: small,
    configurations: {},
    templateContextVariables: {},
    createdAt: new Date(0),
    publishedAt: new Date(0),
    ...more,
  };
}

it('a version is parsed once, also when another one has replaced it', () => {
  const cache = new GraphCache();
  const first = cache.of(version({}));
  expect(first.start.id).toBe('a');
  expect(cache.of(version({ status: 'archived', definition: structuredClone(small) }))).toBe(first);
  expect(cache.of(version({ id: '2' }))).not.toBe(first);
});

it('a draft is parsed for each call, as it may have changed', () => {
  const cache = new GraphCache();
  const draft = version({ status: 'draft' });
  expect(cache.of(draft)).not.toBe(cache.of(draft));
});

it('the graphs that were used last are kept, up to a number of nodes', () => {
  const cache = new GraphCache();
  const large = definition(
    [start('a', {}), ...Array.from({ length: 498 }, (_, n) => agent(`n${n}`, {})), end('b', {})],
    [edge('a', 'b', {})],
  );
  const used = cache.of(version({ id: 'used' }));
  const idle = cache.of(version({ id: 'idle' }));
  for (let n = 0; n < 11; n += 1) {
    cache.of(version({ id: `large ${n}`, definition: large }));
    cache.of(version({ id: 'used' }));
  }
  expect(cache.of(version({ id: 'used' }))).toBe(used);
  expect(cache.of(version({ id: 'idle' }))).not.toBe(idle);
});
