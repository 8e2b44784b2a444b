// Webhook and review nodes of a stored graph. Source: contract §5.3, §8.10, appendix B.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reviewsOf, webhooksOf } from '../../../src/workflow/graph/post-call-nodes.ts';
import { type Data, definition } from '../definitions.ts';

function hook(data: Data, id = 'hook'): Data {
  return {
    id,
    type: 'webhook',
    data: { name: 'Hook', endpoint_url: 'https://r.example', ...data },
  };
}

function headersOf(...headers: [unknown, unknown][]) {
  const custom = headers.map(([key, value]) => ({ key, value }));
  return webhooksOf(definition([hook({ custom_headers: custom })]))[0]?.headers;
}

describe('webhook nodes', () => {
  it('have defaults for what is not set', () => {
    expect(webhooksOf(definition([hook({})]))).toEqual([
      {
        nodeId: 'hook',
        name: 'Hook',
        method: 'POST',
        url: 'https://r.example',
        credentialUuid: null,
        headers: [],
        payloadTemplate: {},
      },
    ]);
  });

  it('fire only if they are enabled and have an address', () => {
    const nodes = [
      hook({ enabled: false }, 'off'),
      hook({ endpoint_url: '  ' }, 'blank'),
      hook({ endpoint_url: null }, 'none'),
      hook({ enabled: null, http_method: 'PUT', credential_uuid: 'c1' }, 'on'),
    ];
    const found = webhooksOf(definition(nodes));
    expect(found).toMatchObject([{ nodeId: 'on', method: 'PUT', credentialUuid: 'c1' }]);
  });

  it.each([
    'Authorization',
    'authorization',
    'Proxy-Authorization',
    'Cookie',
    'Set-Cookie',
    'X-API-Key',
    'x-apikey',
    'X-Auth-Token',
    'X-Access-Token',
    'X-Token',
    'X-Client-Secret',
    'X-Webhook-Secret',
    'Password',
    'X-Private-Key',
    'X-Signature',
    'Api-Token',
  ])('drop the header %s, whose name suggests a secret', (name) => {
    expect(headersOf([name, 'x'], ['X-Mine', 'y'])).toEqual([['X-Mine', 'y']]);
  });

  it.each(['X-Author', 'X-Tokyo', 'X-Passenger-Id', 'X-Keyboard', 'X-Request-Id', 'Content-Type'])(
    'keep the header %s',
    (name) => {
      expect(headersOf([name, 'x'])).toEqual([[name, 'x']]);
    },
  );

  it('drop headers that are ours to set, or no headers', () => {
    const bad: [unknown, unknown][] = [
      ['Host', 'evil.example'],
      ['Content-Length', '1'],
      ['Transfer-Encoding', 'chunked'],
      ['X-Patchbay-Delivery-Id', '1'],
      ['x-dograh-delivery-id', '1'],
      ['X Space', '1'],
      ['X-Line', 'a\r\nX-Other: b'],
      ['', 'x'],
      [7, 'x'],
      ['X-Number', 7],
    ];
    expect(headersOf(...bad)).toEqual([]);
  });
});

describe('review nodes', () => {
  it('have defaults for what is not set', () => {
    expect(reviewsOf(definition([{ id: 'qa', type: 'qa', data: { name: 'QA' } }]))).toEqual([
      {
        nodeId: 'qa',
        name: 'QA',
        usesGatewayModel: true,
        provider: 'openai',
        model: 'default',
        apiKey: null,
        endpoint: null,
        systemPrompt: null,
        durationMinS: 15,
        reviewsVoicemail: false,
        sampleRate: 100,
      },
    ]);
  });

  it('that are disabled are left out', () => {
    const off = { id: 'qa', type: 'qa', data: { name: 'QA', qa_enabled: false } };
    expect(reviewsOf(definition([off]))).toEqual([]);
  });
});

it('any graph gives its nodes', () => {
  const data = fc.dictionary(
    fc.constantFrom('enabled', 'endpoint_url', 'custom_headers', 'payload_template', 'qa_model'),
    fc.jsonValue(),
  );
  const node = fc.record({ id: fc.string(), type: fc.constantFrom('webhook', 'qa', 'x'), data });
  fc.assert(
    fc.property(fc.array(node, { maxLength: 30 }), (nodes) => {
      const graph = definition(nodes as Data[]);
      for (const { headers } of webhooksOf(graph)) {
        for (const [name, value] of headers) expect(name + value).not.toMatch(/[\r\n]/);
      }
      expect(reviewsOf(graph).length + webhooksOf(graph).length).toBeLessThanOrEqual(nodes.length);
    }),
  );
});
