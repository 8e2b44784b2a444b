// Logs a warning for a configured model whose service has announced its retirement, once for each client.

import type { Log } from '../../log.ts';
import type { ConfiguredService } from '../../model/speech-services/model-configuration.ts';
import { hasEnded, retirementOf } from '../../model/speech-services/retirements.ts';
import type { Clock } from '../../std/clock.ts';

/** Returns whether there was a warning. */
export function warnOfRetirement(
  settings: ConfiguredService,
  { clock, log }: { clock: Clock; log: Log },
  facts: { organizationId?: string } = {},
): boolean {
  const retirement = retirementOf(settings);
  if (retirement === undefined) return false;
  const { provider: service, model } = settings;
  const { endsOn, successor } = retirement;
  const text = hasEnded(retirement, clock.now())
    ? 'the service has retired this model'
    : 'the service will retire this model';
  log.warn({ ...facts, service, model, endsOn, successor }, text);
  return true;
}
