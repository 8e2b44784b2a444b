// How the parts of the call room are put together, in every process that closes runs and in tests.

import { ProviderHangUp } from '../call/closing/provider-hang-up.ts';
import { RunClosing } from '../call/closing/run-closing.ts';

type ClosingParts = ConstructorParameters<typeof RunClosing>[0] &
  ConstructorParameters<typeof ProviderHangUp>[0];

export function withClosing<P extends ClosingParts>(
  parts: P,
): P & { closing: RunClosing; hangUps: ProviderHangUp } {
  return Object.assign(parts, {
    closing: new RunClosing(parts),
    hangUps: new ProviderHangUp(parts),
  });
}
