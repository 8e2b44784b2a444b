// Limit of concurrent sessions with the key of a recogniser or a voice; each call with it counts as one.

import { z } from 'zod';

/** Largest limit, above any plan that services document. */
const SESSIONS_MAX = 10_000;

export const concurrencyLimit = z
  .int()
  .min(1)
  .max(SESSIONS_MAX)
  .optional()
  .describe(
    'How many sessions the key may have at once, as its plan states. Calls beyond it use the next service at once. ' +
      'Default: as many as the service accepts.',
  );
