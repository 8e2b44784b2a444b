// Asterisk creates no channel for an endpoint that does not exist, and none for one that has not registered: 500 for both.

import { describe, expect, it } from 'vitest';
import { dial, nothingLeft, table } from '../ari-harness.ts';

describe('a dial that Asterisk refuses', () => {
  it.each([
    ['PJSIP/102', 'PJSIP/102 is not registered'],
    ['PJSIP/5551234@102', 'PJSIP/102 is not registered'],
    ['PJSIP/103', 'PJSIP/103: there is no such endpoint'],
    ['PJSIP/5551234@nosuch', 'PJSIP/nosuch: there is no such endpoint'],
  ])('to %s says: %s', async (to, words) => {
    for (const early of [false, true]) {
      const at = await table({ credentials: { early_media: early } });
      await expect(dial(at, to)).rejects.toMatchObject({
        code: 'PROVIDER_DESTINATION',
        message: expect.stringContaining(words),
      });
      await nothingLeft(at);
    }
  });
});
