// Logs a warning for a configured model whose service has announced its retirement, once for each client.

import type { Log } from '../../log.ts';
import { retirementOf } from '../../model/speech-services/retirements.ts';

export function warnOfRetirement(
  { provider: service, model }: { provider: string; model: string },
  log: Log,
): void {
  const retirement = retirementOf(model);
  if (retirement === undefined) return;
  const { endsOn, successor } = retirement;
  log.warn({ service, model, endsOn, successor }, 'model is announced to end');
}
