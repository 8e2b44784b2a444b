import { expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { vocabulary } from '../../../../src/speech/stt/streaming/expected-vocabulary.ts';

it('is what the settings name, then the shortest of what is expected, each once', () => {
  const next = { ...OPEN_SPEECH, boost: ['Gnocchi', ' Ada '], phrases: ['sales', 'Ada', ''] };
  expect(vocabulary(['Patchbay', 'sales'], next, 4)).toEqual([
    'Patchbay',
    'sales',
    'Ada',
    'Gnocchi',
  ]);
  expect(vocabulary(['Patchbay'], next, 2)).toEqual(['Patchbay', 'Ada']);
});

it('fits into an address', () => {
  const boost = Array.from({ length: 100 }, (_, nth) => `${nth}`.padEnd(40, 'ü'));
  const terms = vocabulary([], { ...OPEN_SPEECH, boost: [...boost, 'x'.repeat(101)] }, 100);
  expect(terms.join('').length).toBeLessThanOrEqual(1_000);
  expect(terms.length).toBe(25);
});
