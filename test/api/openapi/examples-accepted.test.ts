// The requests in the API's description as they stand there, sent to a gateway: all are accepted. Only ids and keys of
// rows are replaced by those of the rows that are there.

import { expect, it } from 'vitest';
import { isObject } from '../../../src/std/json.ts';
import type { Example } from '../example.ts';
import { operationsOf } from '../operations.ts';
import { withApi } from '../served.ts';
import { makeWorld } from '../world.ts';
import { documentedRequests } from './example-requests.ts';

const served = withApi();
const SENT_MS_MAX = 120_000;

/** Fields that name a row or a file, which the world has under another name. */
const REFERENCES = new Set(['workflow_id', 'folder_id', 'source_id', 'storage_key']);

/** What the gateway of the tests cannot do, after the request was found valid. */
const unable: Record<string, string> = {
  examineTelephonyConfiguration: 'Calls over ari are not supported by this version',
  syncTelephonyConfiguration: 'Calls over ari are not supported by this version',
  writeWorkflow: 'Generating an agent needs a language model, and this gateway has none.',
  redialCampaign: "Campaign must be in 'completed' state to redial",
};

const open: Record<string, Example> = { signUp: {}, logIn: {} };

it('accepts every example of a request', { timeout: SENT_MS_MAX }, async () => {
  const { body: document } = await served.call('GET', '/api/v1/openapi.json', { key: null });
  const world = { ...documentedRequests((await makeWorld(served)).examples), ...open };
  const refused: string[] = [];
  let sent = 0;
  for (const { operationId: id, method, path, body, tags } of operationsOf(document)) {
    if (body === undefined || tags.includes('webhooks') || id === 'putFile') continue;
    const { path: names = {}, body: own } = world[id] ?? {};
    const example = document.paths[path][method].requestBody.content['application/json'].example;
    const filled = path.replace(/\{(.+?)\}/g, (_all, name: string) => names[name] ?? '');
    const answer = await served.call(method.toUpperCase() as 'GET', filled, {
      body: withReferences(example, own),
    });
    sent += 1;
    const isUnable =
      id in unable && answer.status === 400 && answer.text.includes(unable[id] ?? '');
    if (answer.status !== 200 && !isUnable) refused.push(`${id} ${answer.status} ${answer.text}`);
  }
  expect(refused).toEqual([]);
  expect(sent).toBeGreaterThan(45);
});

/** The example with the references of the world's request. */
function withReferences(example: unknown, own: unknown): unknown {
  if (Array.isArray(example)) {
    return example.map((each, i) => withReferences(each, Array.isArray(own) ? own[i] : undefined));
  }
  if (!isObject(example)) return example;
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => {
      const known = isObject(own) ? own[name] : undefined;
      return [name, REFERENCES.has(name) ? known : withReferences(value, known)];
    }),
  );
}
