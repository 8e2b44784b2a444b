import { expect, it } from 'vitest';
import { HOSTED } from '../../load/wires/wire.ts';
import { benchMediaMessages } from './media-messages.ts';

it('gives a time for the media messages of every hosted provider, in and out', () => {
  const figures = benchMediaMessages(500);
  expect(Object.keys(figures)).toEqual(
    HOSTED.flatMap((provider) => [`${provider} in`, `${provider} out`]),
  );
  for (const [name, us] of Object.entries(figures)) {
    expect(us, name).toBeGreaterThan(0);
    expect(us, name).toBeLessThan(10_000);
  }
});
