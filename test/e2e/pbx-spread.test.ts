// Two gateways from the build on one PostgreSQL and one Redis, with calls of one PBX in both: Redis is killed and comes
// back, then the gateway without the connection is killed, then the one with it.

import { pbxSpread } from '../several-gateways/cases/pbx-spread.ts';
import { expectHeld } from '../several-gateways/held-cases.ts';

expectHeld(pbxSpread, 300_000);
