// Check at the start of the gateway for configured models that their services end: calls with such a model fail, and its
// owner must see this before the next call.

import type { Log } from '../../../log.ts';
import {
  servicesIn,
  storedSectionsOf,
} from '../../../model/speech-services/model-configuration.ts';
import { warnOfRetirement } from '../../../speech/service/retirement-warning.ts';
import type { Clock } from '../../../std/clock.ts';
import type { StoreHandle } from '../../../store/open.ts';

/** Warnings at one start at most. */
const WARNINGS_MAX = 20;

/** Logs a line for each such model of an organization or a user. Never rejects. */
export async function logEndingModels(
  store: Pick<StoreHandle, 'storedModelConfigurations'>,
  means: { clock: Clock; log: Log },
): Promise<void> {
  let count = 0;
  try {
    for await (const { organizationId, configuration } of store.storedModelConfigurations()) {
      const { llm, tts, stt } = storedSectionsOf(configuration) ?? {};
      for (const service of [llm, tts, stt].flatMap((section) =>
        section ? servicesIn(section) : [],
      )) {
        if (warnOfRetirement(service, means, { organizationId })) count += 1;
        if (count >= WARNINGS_MAX) return;
      }
    }
  } catch (error) {
    means.log.warn({ err: error }, 'ends of configured models not checked');
  }
}
