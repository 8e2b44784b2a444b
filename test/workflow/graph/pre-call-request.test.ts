// Whether variables are asked for before a call. Source: contract §5.3.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { preCallRequestOf } from '../../../src/workflow/graph/pre-call-request.ts';
import { type Data, definition, start } from '../definitions.ts';

const url = 'https://crm.example/lookup';
const of = (data: Data, direction: 'inbound' | 'outbound' = 'inbound') =>
  preCallRequestOf(definition([start('1', { pre_call_fetch_url: url, ...data })]), direction);

it.each([
  [{}, false, false],
  [{ pre_call_fetch_mode: 'disabled' }, false, false],
  [{ pre_call_fetch_mode: 'always' }, true, true],
  [{ pre_call_fetch_mode: 'inbound' }, true, false],
  [{ pre_call_fetch_mode: 'outbound' }, false, true],
  [{ pre_call_fetch_enabled: true }, true, true],
  [{ pre_call_fetch_enabled: true, pre_call_fetch_mode: null }, true, true],
  [{ pre_call_fetch_enabled: true, pre_call_fetch_mode: 'outbound' }, false, true],
  [{ pre_call_fetch_mode: 'always', pre_call_fetch_url: ' ' }, false, false],
  [{ pre_call_fetch_mode: 'sometimes' }, false, false],
])('%j: inbound %s, outbound %s', (data, inbound, outbound) => {
  expect(of(data) !== undefined).toBe(inbound);
  expect(of(data, 'outbound') !== undefined).toBe(outbound);
});

it('names the credential, if there is one', () => {
  const mode = { pre_call_fetch_mode: 'always' };
  expect(of({ ...mode, pre_call_fetch_credential_uuid: 'c1' })?.credentialUuid).toBe('c1');
  expect(of({ ...mode, pre_call_fetch_credential_uuid: '' })?.credentialUuid).toBeNull();
});

it('any start node asks for something or nothing', () => {
  const data = fc.dictionary(
    fc.constantFrom('pre_call_fetch_mode', 'pre_call_fetch_url', 'pre_call_fetch_enabled'),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(data, (drawn) => {
      const found = preCallRequestOf(definition([start('1', drawn as Data)]), 'inbound');
      expect(found?.url).not.toBe('');
    }),
  );
});
