// How the parts of the call room are put together, in every process that closes runs and in tests.

import { ProviderHangUp } from '../call/closing/provider-hang-up.ts';
import { RunClosing } from '../call/closing/run-closing.ts';
import type { CallDeps } from '../call/setup/call-deps.ts';

export function withClosing(parts: Omit<CallDeps, 'closing' | 'hangUps'>): CallDeps {
  return Object.assign(parts, {
    closing: new RunClosing(parts),
    hangUps: new ProviderHangUp(parts),
  });
}
