// Sealing inside an agent's content.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { jsonText } from '../../../src/store/db/column-values.ts';
import { SecretBox } from '../../../src/store/secrets/secret-box.ts';
import { parseSecretKeys, type SecretKey } from '../../../src/store/secrets/secret-keys.ts';
import { isFresh, openContent, sealContent } from '../../../src/store/workflows/sealed-content.ts';

const [OLD, NEW] = parseSecretKeys(`${'11'.repeat(32)} ${'22'.repeat(32)}`) as [
  SecretKey,
  SecretKey,
];
const secrets = new SecretBox([OLD], systemRandom);
const own = { column: 'definition', organizationId: '7', secrets } as const;

describe('sealed content', () => {
  it('opens to what was stored, for any JSON, and shows no secret', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.constant(null));
    const key = fc.oneof(fc.constantFrom('api_key', 'qa_api_key', 'token', 'a'), fc.string());
    const { tree } = fc.letrec((tie) => ({
      tree: fc.dictionary(key, tie('node'), { maxKeys: 4 }),
      node: fc.oneof({ maxDepth: 4 }, leaf, tie('tree'), fc.array(tie('node'), { maxLength: 3 })),
    }));
    fc.assert(
      fc.property(tree as fc.Arbitrary<object>, (content) => {
        const { text, sealedFields } = sealContent(content, own);
        const opened = openContent(JSON.parse(text), sealedFields, own);
        expect(JSON.stringify(opened)).toBe(jsonText(content));
      }),
    );
  });

  it("seals every text of a service's secret in settings: lists of keys, objects", () => {
    const service = {
      provider: 'google',
      api_key: ['one', 'two'],
      credentials: { private_key: 'three' },
      fallbacks: [{ provider: 'openai', api_key: 'four', model: 'm' }],
    };
    const settings = {
      model_overrides: { llm: service },
      model_configuration_v2_override: { byok: { pipeline: { tts: service } } },
      elsewhere: { credentials: 'stays' },
    };
    const at = { ...own, column: 'configurations' } as const;
    const { text, sealedFields } = sealContent(settings, at);
    expect(text).not.toMatch(/"(one|two|three|four)"/);
    expect(text).toContain('"stays"');
    expect(sealedFields).toHaveLength(8);
    expect(openContent(JSON.parse(text), sealedFields, at)).toEqual(settings);
  });

  it('seals texts under the names of secrets, in lists too, and nothing else', () => {
    const content = {
      nodes: [
        { data: { qa_api_key: 'one', name: 'two', api_key: '', more: { password: 'three' } } },
      ],
      token: 7,
    };
    const { text, sealedFields } = sealContent(content, own);
    expect(sealedFields).toEqual([
      '["definition","nodes",0,"data","qa_api_key"]',
      '["definition","nodes",0,"data","more","password"]',
    ]);
    expect(text).toContain('"two"');
    expect(text).not.toMatch(/"one"|"three"/);
  });

  it('takes nothing that a client sends for sealed text', () => {
    const content = { a: 'sealed:00000000:AAAA', api_key: 'sealed:00000000:AAAA' };
    const { text, sealedFields } = sealContent(content, own);
    expect(openContent(JSON.parse(text), sealedFields, own)).toEqual(content);
  });

  it('does not open elsewhere: in another place, column or organization', () => {
    const { text, sealedFields } = sealContent({ api_key: 'one' }, own);
    const stored = JSON.parse(text);
    const codeFrom = (work: () => unknown) => {
      try {
        return work();
      } catch (error) {
        return codeOf(error);
      }
    };
    const elsewhere = { ...own, organizationId: '8' };
    expect(codeFrom(() => openContent(stored, sealedFields, elsewhere))).toBe('SECRET_UNREADABLE');
    const moved = codeFrom(() =>
      openContent({ token: stored.api_key }, ['["definition","token"]'], own),
    );
    expect(moved).toBe('SECRET_UNREADABLE');
    expect(openContent(stored, sealedFields, { ...own, column: 'configurations' })).toBe(stored);
  });

  it('is fresh if the newest key sealed it', () => {
    const { text, sealedFields } = sealContent({ api_key: 'one' }, own);
    const both = new SecretBox([NEW, OLD], systemRandom);
    const stored = JSON.parse(text);
    expect(isFresh(stored, sealedFields, own)).toBe(true);
    expect(isFresh(stored, sealedFields, { ...own, secrets: both })).toBe(false);
    expect(isFresh(stored, [], { ...own, secrets: both })).toBe(true);
  });
});
