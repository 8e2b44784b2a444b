// Schemas of users, sign-up and log-in. Source: contract §3.3.

import { z } from 'zod';
import type { User } from '../../store/accounts/users.ts';
import { idOut } from '../http/values.ts';

const email = z
  .email({ error: 'not a valid email address' })
  .max(254)
  .describe('An email address of at most 254 characters; case does not matter.');
/** Longer text costs time to hash and is no password. */
const PASSWORD_CHARACTERS_MAX = 1_024;

export const signUp = z.object({
  email,
  password: z
    .string()
    .min(8)
    .max(PASSWORD_CHARACTERS_MAX)
    .describe('At least 8 and at most 1,024 characters.'),
  name: z
    .string()
    .max(255)
    .nullish()
    .describe('What the user is called, in at most 255 characters. Default: no name.'),
});

export const logIn = z.object({
  email,
  password: z.string().max(PASSWORD_CHARACTERS_MAX).describe('The password of `signUp`.'),
});
export type LoginBody = z.infer<typeof logIn>;

export const userOut = z
  .object({
    id: idOut,
    email: z.string().nullable(),
    name: z.string().nullable(),
    organization_id: idOut.nullable(),
    provider_id: z.string().nullable(),
  })
  .meta({ id: 'UserResponse', description: 'A user.' });

export const loggedIn = z
  .object({
    token: z.string().meta({
      description: 'For `Authorization: Bearer`. Valid for 720 hours by default.',
    }),
    user: userOut,
  })
  .meta({ id: 'AuthResponse', description: 'A token, and the user whom it stands for.' });

export function userOnWire(user: User): z.infer<typeof userOut> {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    organization_id: user.organizationId,
    provider_id: providerIdOf(user.id),
  };
}

/** Id of a user in the form of an identity provider. */
export function providerIdOf(userId: string): string {
  return `local_${userId}`;
}

/** Id of an organization in the form of an identity provider. */
export function organizationProviderId(organizationId: string): string {
  return `org_local_${organizationId}`;
}
