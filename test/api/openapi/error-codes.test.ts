// Codes of errors: each error body has one, of the table; the description shows for each error the body that is sent.

import { expect, it } from 'vitest';
import { errorReplyOf } from '../../../src/api/http/error-reply.ts';
import { RequestInvalid } from '../../../src/api/http/validation.ts';
import { type ErrorCode, GatewayError, isErrorCode } from '../../../src/errors/gateway-error.ts';
import { withApi } from '../served.ts';

interface Body {
  detail: unknown;
  code: string;
  retry_after?: number;
}
interface Content {
  schema: unknown;
  example?: Body;
  examples?: Record<string, { value: Body }>;
}
interface Document {
  components: {
    responses: Record<string, { content: { 'application/json': Content } }>;
    schemas: Record<string, { required?: string[]; properties?: Record<string, unknown> }>;
  };
}

const served = withApi();
const described = async (): Promise<Document> =>
  (await served.call('GET', '/api/v1/openapi.json')).body;

// The description named codes, and the answers had only a sentence.
it('are in the example of every error, which is listed under its code', async () => {
  const { components } = await described();
  for (const [name, { content }] of Object.entries(components.responses)) {
    const { example, examples = {} } = content['application/json'];
    for (const [key, { value }] of Object.entries(examples)) {
      expect([name, value.code]).toEqual([name, key]);
    }
    const bodies = [
      ...Object.values(examples).map(({ value }) => value),
      ...(example ? [example] : []),
    ];
    for (const { code } of bodies) expect([name, isErrorCode(code)]).toEqual([name, true]);
    expect(bodies.length, name).toBeGreaterThan(0);
  }
});

it('are a required field of every schema of an error, with the pause beside them', async () => {
  const { components } = await described();
  const bodies = Object.keys(components.schemas).filter((name) =>
    /ErrorResponse$|^HTTPValidationError$|^CallNotPlaced|^RevisionConflict/.test(name),
  );
  expect(bodies).toHaveLength(6);
  for (const name of bodies) {
    expect([name, components.schemas[name]]).toEqual([
      name,
      expect.objectContaining({
        required: expect.arrayContaining(['detail', 'code']),
        properties: expect.objectContaining({
          code: expect.anything(),
          retry_after: expect.anything(),
        }),
      }),
    ]);
  }
});

it.each<[string, unknown, number, ErrorCode, number | undefined]>([
  ['a request that does not fit', new RequestInvalid([]), 422, 'REQUEST_INVALID', undefined],
  ['a limit', new GatewayError('CALL_LIMIT_REACHED'), 429, 'CALL_LIMIT_REACHED', 5],
  [
    'a wait',
    new GatewayError('TOO_MANY_ATTEMPTS', { retryAfterS: 60 }),
    429,
    'TOO_MANY_ATTEMPTS',
    60,
  ],
  ['a store that is away', new GatewayError('STORE_UNAVAILABLE'), 503, 'STORE_UNAVAILABLE', 5],
  ['a code without a status', new GatewayError('MEDIA_FLOOD'), 500, 'INTERNAL_ERROR', undefined],
  ['a fault of ours', new Error('secret'), 500, 'INTERNAL_ERROR', undefined],
  ['a body that Fastify finds too large', failed(413), 413, 'BODY_OVERSIZED', undefined],
  ['a type that Fastify does not read', failed(415), 415, 'BAD_REQUEST', undefined],
])('of %s', (_what, error, status, code, retryAfter) => {
  const reply = errorReplyOf(error);
  const sent = [reply.status, reply.body.code, reply.body.retry_after];
  expect(sent).toEqual([status, code, retryAfter]);
});

function failed(statusCode: number): Error {
  return Object.assign(new Error('Fastify'), { statusCode });
}
