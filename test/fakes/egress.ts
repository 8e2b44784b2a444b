// The egress rule as it is while anybody may sign up: public addresses alone, and what is named.

import { createEgress, type Egress } from '../../src/egress/egress-rule.ts';

export function openSignUpEgress(...allowed: string[]): Egress {
  return createEgress({ isSignUpOpen: true, allowed });
}
