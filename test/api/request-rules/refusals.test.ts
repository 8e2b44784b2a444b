// Every rule that the schema of a request has, broken on every operation that has it: a field that is missing, of another
// type, too long or too short, out of its bounds, none of its words. rules.txt has them as the contract names them. What a
// rule of the domain refuses (states, conflicts, rights, references) is in the tests of each resource.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isObject } from '../../../src/std/json.ts';
import type { Example } from '../example.ts';
import { type Operation, operationsOf } from '../operations.ts';
import { type Answer, DEVOPS_SECRET, withApi } from '../served.ts';
import { makeWorld, SECRETS } from '../world.ts';
import { ABSENT, type Break, breaksOf } from './breaks.ts';
import { goodValue, SECRET, withBroken } from './good-values.ts';
import { type Rule, rulesFromText, rulesInText, type Schema } from './rules.ts';

const served = withApi();
const RULES = new URL('rules.txt', import.meta.url);

/** Rules that the description has and no schema enforces in these words. */
const exceptions: readonly RegExp[] = [
  // The message has the pattern with its flag, which JSON Schema has not.
  /^createContactsUpload body\.(file_name|content_type) string_pattern_mismatch/,
  // The provider of a configuration stays, whether or not it is sent.
  /^updateTelephonyConfiguration body\.config union_tag_not_found/,
  // Words of its own: test/api/accounts/auth-routes.test.ts.
  /^(signUp|logIn) body\.email string_pattern_mismatch/,
  // No rules are no mapping: test/workflow/tools/registry.test.ts.
  / body\.definition\.<transfer_call>\.config\.context_mapping\.rules list_type for null/,
];
/** The request of operations that world.ts has no example of. */
const withoutKey: Example = { headers: { 'x-patchbay-devops-secret': DEVOPS_SECRET } };

interface Case {
  operation: Operation;
  rule: Rule;
  broken: Break;
}

it('the description has the rules that the contract names, and no others', async () => {
  const { body: document } = await served.call('GET', '/api/v1/openapi.json');
  await expect(rulesInText(document)).toMatchFileSnapshot('rules.txt');
});

it('a request that breaks a rule is 422 for that field, and nothing is stored', async () => {
  const { body: document } = await served.call('GET', '/api/v1/openapi.json');
  const rules = rulesFromText(readFileSync(RULES, 'utf8'));
  const { examples } = await makeWorld(served);
  const before = await stored();
  served.callService.started.length = 0;
  const wrong: string[] = [];
  const cases = operationsOf(document).flatMap((operation) => casesOf(operation, rules));
  for (const each of cases) {
    const { operation, rule, broken } = each;
    const example = examples[operation.operationId] ?? withoutKey;
    const answer = await send(operation, brokenRequest(document, each, example));
    const what = `${operation.operationId} ${rule.place} ${broken.type}`;
    wrong.push(...faultsOf(answer, each).map((fault) => `${what}: ${fault}`));
  }
  expect(wrong).toEqual([]);
  expect(cases.length).toBeGreaterThan(1_500);
  expect(await stored()).toEqual(before);
  expect(served.callService.started).toEqual([]);
}, 120_000);

function casesOf(operation: Operation, rules: ReturnType<typeof rulesFromText>): Case[] {
  const { operationId } = operation;
  return (rules.get(operationId) ?? []).flatMap((rule) =>
    breaksOf(rule)
      .filter(({ type, value }) => {
        const what = `${operationId} ${rule.place} ${type}${value === null ? ' for null' : ''}`;
        return !exceptions.some((pattern) => pattern.test(what));
      })
      .map((broken) => ({ operation, rule, broken })),
  );
}

/** The example with the broken value in its place. */
function brokenRequest(document: Schema, { operation, rule, broken }: Case, example: Example) {
  const [part = '', ...pieces] = rule.place.split('.');
  const { value } = broken;
  if (part === 'body') {
    const good = example.body ?? goodValue(document, operation.body);
    const body = withBroken(document, operation.body, pieces, { value: good, broken: value });
    return { ...example, body: body === ABSENT ? undefined : body };
  }
  const field = part === 'query' ? 'query' : 'headers';
  const { [pieces.join('.')]: _replaced, ...others } = example[field] ?? {};
  const own = value === ABSENT ? {} : { [pieces.join('.')]: String(value) };
  return { ...example, [field]: { ...others, ...own } };
}

function send(
  { method, path }: Operation,
  { path: pieces = {}, query = {}, body, headers = {} }: Example,
): Promise<Answer> {
  const filled = path.replace(/\{(.+?)\}/g, (_all, name: string) =>
    encodeURIComponent(pieces[name] ?? '1'),
  );
  const url = `${filled}?${new URLSearchParams(query)}`;
  const options = body === undefined ? { headers } : { headers, body };
  return served.call(method.toUpperCase() as 'GET', url, options);
}

function faultsOf({ status, text, body }: Answer, { rule, broken: { type, msg } }: Case): string[] {
  const secrets = [SECRET, ...Object.values(SECRETS)].filter((secret) => text.includes(secret));
  if (secrets.length > 0) return [`shows ${secrets.join()}`];
  if (status !== 422 || body.code !== 'REQUEST_INVALID' || !Array.isArray(body.detail)) {
    return [`${status} ${text}`];
  }
  const place = rule.place.replace(/[<>]/g, '').split('.');
  const loc = JSON.stringify(place.map((each) => (each === '0' ? 0 : each)));
  const items: Schema[] = body.detail.filter(isObject);
  const isNamed = items.some(
    (item) => item['type'] === type && item['msg'] === msg && JSON.stringify(item['loc']) === loc,
  );
  const isAlone = items.every((item) => JSON.stringify(item['loc']).startsWith(loc.slice(0, -1)));
  return isNamed && isAlone ? [] : [`not ${msg}, but ${text}`];
}

/** A digest of every table. */
async function stored(): Promise<unknown> {
  const tables = await served.test.sql(
    'select tablename as name from pg_tables where schemaname = current_schema() order by 1',
  );
  const digests = tables.map(
    ({ name }) =>
      `select '${name}' as name, md5(string_agg(t::text, ',' order by t::text)) from "${name}" t`,
  );
  return served.test.sql(digests.join(' union all '));
}
