import { expect, it } from 'vitest';
import { copySamples } from '../../src/audio/pcm.ts';

it('copies any number of samples from anywhere to anywhere, and nothing beside them', () => {
  const source = Int16Array.from({ length: 20 }, (_, i) => i + 1);
  for (let count = 0; count <= 9; count++) {
    const target = new Int16Array(20);
    copySamples(source, 3, target, 5, count);
    const expected = new Int16Array(20);
    expected.set(source.subarray(3, 3 + count), 5);
    expect(target).toEqual(expected);
  }
});
