// docs/services.md against the schemas: every service of the reference is built, described as data, or said to be not built.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  servicesNotBuilt,
  storableService,
  whyNotBuilt,
} from '../../src/model/speech-services/service-rows.ts';
import { llmServices, sttServices, ttsServices } from '../../src/model/speech-services/services.ts';
import { referenceServices } from './reference-services.ts';

const text = readFileSync('docs/services.md', 'utf8');

/** From its heading to the next one. */
function section(title: string): string {
  const from = text.indexOf(`\n## ${title}\n`);
  const to = text.indexOf('\n## ', from + 1);
  return from === -1 ? '' : text.slice(from, to);
}

const ROWS = { llm: llmServices, tts: ttsServices, stt: sttServices };
/** Beside the tables: they need no service. */
const EMBEDDED = ['pocketsphinx', 'flite', 'scripted'];

describe.each([
  ['Language models', 'llm'],
  ['Voices', 'tts'],
  ['Recognisers', 'stt'],
] as const)('the table of %s', (title, job) => {
  const part = section(title);
  const [built = '', not = ''] = part.split('\nNot built: ');
  const notBuilt = not.slice(0, not.indexOf('\n\n'));

  it('has every service that is built', () => {
    const missing = Object.keys(ROWS[job]).filter(
      (name) => !EMBEDDED.includes(name) && !built.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });

  it('says of every other service of the reference that it is not built', () => {
    const names = Object.keys(referenceServices[job]);
    const others = names.filter((name) => !Object.hasOwn(ROWS[job], name));
    expect(others.filter((name) => !notBuilt.includes(`\`${name}\``))).toEqual([]);
    expect(others).not.toEqual([]);
  });

  it('takes what the forms of the reference send, and says of the others why it does not', () => {
    for (const [provider, fields] of Object.entries(referenceServices[job])) {
      const stored = storableService(job, { api_key: 'hf_0123456789abcdef', ...fields, provider });
      if (Object.hasOwn(ROWS[job], provider)) {
        expect([provider, stored]).toEqual([provider, { service: expect.anything() }]);
      } else {
        const words = `This gateway does not have the provider ${provider}: `;
        expect(stored).toEqual({ problem: `${words}${whyNotBuilt(provider)}` });
        expect(whyNotBuilt(provider)).toMatch(/^\w.+\w$/);
      }
    }
  });
});

describe('services that are not built', () => {
  it('are all in the tables, and none of them is built', () => {
    expect(servicesNotBuilt.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
    const built = servicesNotBuilt.filter((name) =>
      (['llm', 'tts', 'stt'] as const).every((job) => Object.hasOwn(ROWS[job], name)),
    );
    expect(built).toEqual([]);
  });
});
