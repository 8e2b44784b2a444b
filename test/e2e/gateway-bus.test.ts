// Two gateways from the build on one PostgreSQL and one Redis: what is done at one reaches the calls of the other.
// `npm run cluster` has the cases that take longer.

import { commands } from '../several-gateways/cases/commands.ts';
import { expectHeld } from '../several-gateways/held-cases.ts';

expectHeld(commands, 150_000);
