// Dependencies of a session, shared by all calls of a process.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { ProviderHangUp } from '../end/closing/provider-hang-up.ts';
import type { RunClosing } from '../end/closing/run-closing.ts';
import type { CallServices } from '../start/setup/call-services.ts';
import type { TransferLegs } from '../transfer/transfer-leg.ts';
import type { OrganizationHttp } from './dialogue/tool-request.ts';

export interface SessionDeps {
  services: CallServices;
  http: OrganizationHttp;
  closing: RunClosing;
  hangUps: ProviderHangUp;
  /** The public URL without a trailing slash. */
  publicUrl: string;
  /** The destinations of warm transfers. */
  transferLegs: TransferLegs;
  random: Random;
  clock: Clock;
  log: Log;
}
