// What a gateway checks once at its start, so that its owner sees what makes calls fail before the next call: agents
// that are too large for calls, and configured models that their services end. Stored secrets are sealed with the newest
// key, so that an old one can be removed.

import type { Log } from '../log.ts';
import { servicesIn, storedSectionsOf } from '../model/speech-services/model-configuration.ts';
import { warnOfRetirement } from '../speech/service/retirement-warning.ts';
import type { Clock } from '../std/clock.ts';
import type { StoreHandle } from '../store/open.ts';

/** Agents that the log names individually at most. */
const NAMED_MAX = 20;
/** Warnings at one start at most. */
const WARNINGS_MAX = 20;

/** Logs a line for each agent that is too large for calls, and the number of further ones. Never rejects. */
export async function logOversizedAgents(
  store: Pick<StoreHandle, 'oversizedVersions'>,
  log: Log,
): Promise<void> {
  let count = 0;
  try {
    for await (const { organizationId, workflowId, status, excess } of store.oversizedVersions()) {
      count += 1;
      if (count > NAMED_MAX) continue;
      log.warn(
        { organizationId, workflowId, status, excess },
        'agent is too large for calls: make it smaller and publish it again',
      );
    }
  } catch (error) {
    log.warn({ err: error }, 'sizes of agents not checked');
  }
  if (count > NAMED_MAX) log.warn({ agents: count }, 'agents are too large for calls');
}

/** Logs a line for each configured model of an organization or a user that its service ends. Never rejects. */
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

/** Seals stored secrets with the newest key. */
export async function resealSecrets(store: StoreHandle, log: Log): Promise<void> {
  const resealed = await store.resealSecrets();
  if (resealed > 0) log.info({ configurations: resealed }, 'secrets are sealed by the newest key');
}
