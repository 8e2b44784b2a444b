// Trunks as they travel. Source: contract §4.1 and Appendix D.

import { z } from 'zod';
import type { Trunk } from '../../model/telephony.ts';
import { freeObject, idOut, isoTime, storedObject, timeOut } from '../http/values.ts';

const name = z.string().min(1).max(64);

export const trunkCreate = z.object({
  name,
  enabled: z.boolean().default(true),
  settings: storedObject
    .default({})
    .meta({ description: "What the provider's trunks can be set to." }),
});

export const trunkUpdate = z.object({
  name: name.nullish(),
  enabled: z.boolean().nullish(),
  settings: storedObject.nullish().meta({ description: 'Takes the place of all settings.' }),
});

export const trunkOut = z
  .object({
    id: idOut,
    name: z.string(),
    enabled: z.boolean(),
    settings: freeObject,
    phone_number_count: z.int(),
    created_at: timeOut,
    updated_at: timeOut,
  })
  .meta({ id: 'TrunkResponse' });

export function trunkOnWire(trunk: Trunk): z.infer<typeof trunkOut> {
  return {
    id: trunk.id,
    name: trunk.name,
    enabled: trunk.enabled,
    settings: trunk.settings,
    phone_number_count: trunk.phoneNumbers,
    created_at: isoTime(trunk.createdAt),
    updated_at: isoTime(trunk.updatedAt),
  };
}
