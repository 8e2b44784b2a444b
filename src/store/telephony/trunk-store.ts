// Trunks as the other rooms see them.

import type { Trunk } from '../../model/telephony.ts';

export interface TrunkSettings {
  name: string;
  enabled: boolean;
  settings: Record<string, unknown>;
}

export interface TrunkStore {
  /** Oldest first. */
  list(configurationId: string): Promise<Trunk[]>;
  /** Throws CONFIGURATION_NOT_FOUND, TRUNK_NAME_TAKEN, TRUNKS_FULL. */
  create(configurationId: string, input: TrunkSettings): Promise<Trunk>;
  /** Undefined if there is none of that id. Throws TRUNK_NAME_TAKEN. */
  update(
    configurationId: string,
    id: string,
    patch: Partial<TrunkSettings>,
  ): Promise<Trunk | undefined>;
  /** False if there is none of that id. Throws TRUNK_IN_USE if a number goes over it. */
  delete(configurationId: string, id: string): Promise<boolean>;
}
