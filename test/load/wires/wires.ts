// The providers whose calls the load tool places, one row each.

import { cloudonixWire } from './cloudonix.ts';
import { plivoWire } from './plivo.ts';
import { telnyxWire } from './telnyx.ts';
import { twilioWire } from './twilio.ts';
import { vobizWire } from './vobiz.ts';
import { vonageWire } from './vonage.ts';
import type { HostedName, Wire } from './wire.ts';

export const wires: Readonly<Record<HostedName, Wire>> = {
  twilio: twilioWire,
  telnyx: telnyxWire,
  plivo: plivoWire,
  vobiz: vobizWire,
  cloudonix: cloudonixWire,
  vonage: vonageWire,
};
