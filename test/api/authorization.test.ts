// Who may do what: every operation that wants a key, asked without one, with a bad one, with an archived
// one and by another organization. Source: contract §3.2.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Example } from './example.ts';
import { type Operation, operationsOf } from './operations.ts';
import { type Answer, withApi } from './served.ts';
import { MARK, makeWorld, type World } from './world.ts';

const served = withApi();
let world: World;
let operations: Operation[];
let archivedKey: string;
let stranger: Awaited<ReturnType<typeof served.stranger>>;

beforeEach(async () => {
  const { body } = await served.call('GET', '/api/v1/openapi.json');
  operations = operationsOf(body).filter(
    ({ security }) => Array.isArray(security) && security.length > 0,
  );
  world = await makeWorld(served);
  const made = await served.ok('POST', '/user/api-keys', { name: 'old' });
  archivedKey = made.api_key;
  await served.ok('DELETE', `/user/api-keys/${made.id}`);
  stranger = await served.stranger();
}, 60_000);

function ask(operation: Operation, key: string | null): Promise<Answer> {
  const { path = {}, query = {}, body, headers } = exampleOf(operation);
  const filled = operation.path.replace(/\{(.+?)\}/g, (_all, name: string) =>
    encodeURIComponent(path[name] ?? `no-${name}-in-the-example`),
  );
  const search = new URLSearchParams(query).toString();
  return served.call(
    operation.method.toUpperCase() as 'GET',
    search === '' ? filled : `${filled}?${search}`,
    { key, ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) },
  );
}

function exampleOf({ operationId }: Operation): Example {
  const example = world.examples[operationId];
  if (example === undefined) throw new Error(`world.ts has no example of ${operationId}`);
  return example;
}

/** Whether the request names a row of the owner's. */
function namesARow(operation: Operation): boolean {
  const { path, query, foreign } = exampleOf(operation);
  return path !== undefined || query !== undefined || foreign !== undefined;
}

async function statuses(key: string | null): Promise<[string, number, unknown][]> {
  const all: [string, number, unknown][] = [];
  for (const operation of operations) {
    const { status, body } = await ask(operation, key);
    all.push([operation.operationId, status, body?.detail]);
  }
  return all;
}

/** What the owner is told of everything that can be read. */
async function ownersRows(): Promise<[string, string][]> {
  const rows: [string, string][] = [];
  for (const operation of operations.filter(({ method }) => method === 'get')) {
    const { text } = await ask(operation, served.test.apiKey);
    // How late the event loop of the tests runs is no row.
    rows.push([operation.operationId, text.replace(/("loop_lag_\w+":)[\d.]+/g, '$10')]);
  }
  return rows;
}

describe('every operation that wants a key', () => {
  it('has an example, and every example an operation', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(Object.keys(world.examples).sort()).toEqual(ids.sort());
  });

  it('says 401 and what is missing without a key; the starts of agents say 422', async () => {
    for (const [id, status, detail] of await statuses(null)) {
      if (id.startsWith('startCall') || id.startsWith('startTestCall')) {
        expect([id, status], id).toEqual([id, 422]);
      } else
        expect([id, status, detail]).toEqual([
          id,
          401,
          'Authorization header required. Send an API key in X-API-Key, or a token in Authorization',
        ]);
    }
  });

  it.each([
    ['an unknown', () => 'not-a-key'],
    ['an archived', () => archivedKey],
  ])('says 401 to %s key', async (_name, key) => {
    for (const [id, status, detail] of await statuses(key())) {
      const isStart = id.startsWith('startCall') || id.startsWith('startTestCall');
      const words = isStart ? 'Invalid API key' : 'Invalid or expired API key';
      expect([id, status, detail]).toEqual([id, 401, words]);
    }
  });

  it('finds no rows of another organization, and leaves them as they are', async () => {
    const before = await ownersRows();
    for (const operation of operations) {
      const { operationId } = operation;
      const answer = await ask(operation, stranger.apiKey);
      if (namesARow(operation)) {
        const expected = exampleOf(operation).foreign ?? 404;
        expect([operationId, answer.status, answer.text]).toEqual([
          operationId,
          expected,
          answer.text,
        ]);
      }
      expect(answer.text, operationId).not.toContain(MARK);
    }
    expect(await ownersRows()).toEqual(before);
    const askedFor = served.callService.started.map(({ organizationId }) => organizationId);
    expect(new Set(askedFor)).toEqual(new Set([stranger.organizationId]));
  });

  it("does its work for the owner's key after all that", async () => {
    const deletes = operations.filter(({ method }) => method === 'delete');
    const others = operations.filter(({ method }) => method !== 'delete');
    // Children before their parents.
    deletes.sort((a, b) => b.path.length - a.path.length);
    for (const operation of [...others, ...deletes]) {
      const answer = await ask(operation, served.test.apiKey);
      const what = `${operation.operationId} ${answer.status} ${answer.text}`;
      expect([401, 403, 404, 405, 422], what).not.toContain(answer.status);
      expect(answer.status, what).toBeLessThan(500);
    }
  });
});
