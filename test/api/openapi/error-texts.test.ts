// Texts of errors in the API's description: their facts are those that the error has, not those of another one.

import { describe, expect, it } from 'vitest';
import { exampleFacts } from '../../../src/api/openapi/error-responses.ts';
import { type ErrorCode, errorText } from '../../../src/errors/gateway-error.ts';
import { withApi } from '../served.ts';

const served = withApi();

/** Facts that mean something else in each text, so that each has its own. */
const OF_ONE_TEXT = new Set([
  'reason',
  'problems',
  'excess',
  'max',
  'name',
  'field',
  'limit',
  'bytes',
]);

interface Shared {
  description: string;
  content: { 'application/json': { examples?: Record<string, { value: unknown }> } };
}

async function examplesByCode(): Promise<Map<string, string>> {
  const { body } = await served.call('GET', '/api/v1/openapi.json', { key: null });
  const shared: Shared[] = Object.values(body.components.responses);
  return new Map(
    shared.flatMap(({ content }) =>
      Object.entries(content['application/json'].examples ?? {}).map(
        ([code, { value }]) => [code, JSON.stringify(value)] as const,
      ),
    ),
  );
}

describe('the texts of errors in the description', () => {
  it('have facts of their own where a fact has another meaning in each text', async () => {
    const lacking: string[] = [];
    for (const code of (await examplesByCode()).keys()) {
      if (!/^[A-Z]+(_[A-Z]+)+$/.test(code)) continue;
      for (const [, fact = ''] of templateOf(code).matchAll(/\{(\w+)\}/g)) {
        const isOwn = exampleFacts[code]?.[fact] !== undefined;
        if (OF_ONE_TEXT.has(fact) && !isOwn) lacking.push(`${code} {${fact}}`);
      }
    }
    expect(lacking).toEqual([]);
  });

  it('are those that the gateway sends', async () => {
    const examples = await examplesByCode();
    const texts: Record<string, string> = {
      CONFIGURATION_ADDRESS_FORBIDDEN: 'ari_endpoint points to a private network,',
      WORKFLOW_INVALID: 'prompt is required for agent nodes',
      CAMPAIGN_SOURCE_INVALID: "Source must contain a 'phone_number' column",
      CONFIGURATION_NOT_READY: "'Twilio' is not ready for outbound calls. Add at least one",
      FOLDERS_FULL: 'An organization has at most 500 folders',
      TRUNKS_UNSUPPORTED: 'Configurations of twilio have no trunks',
    };
    for (const [code, text] of Object.entries(texts)) {
      expect([code, examples.get(code)]).toEqual([code, expect.stringContaining(text)]);
    }
  });
});

/** The text with its placeholders. */
function templateOf(code: string): string {
  return errorText(code as ErrorCode, {});
}
