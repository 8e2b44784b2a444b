// Telephony configurations that one process at a time holds the connection of, as the other rooms see
// them.

import type { ProviderName } from '../../model/provider.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';

export interface HeldConfiguration extends TelephonyConfiguration {
  /** False if its secrets cannot be opened: there are no credentials then. */
  isReadable: boolean;
}

export interface LeaseStore {
  /** Across organizations: renews what this node holds and takes what nobody holds, shown inactive or
   *  not, for `leaseMs` from now; at most `max`, what it holds first. Everything that it gives is this
   *  node's until then, everything else is not. */
  claim(wanted: {
    providers: readonly ProviderName[];
    leaseMs: number;
    max: number;
  }): Promise<HeldConfiguration[]>;
  /** Lets go of all that this node holds. */
  release(): Promise<void>;
}
