// Routes of the current user: /user/auth/user, and the state of the user interface's tour. Source: contract §3.5.

import { z } from 'zod';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { idOut, isoTimeOrNull, momentIn, timeOut } from '../http/values.ts';

const common = { tags: ['accounts'], security: keyRequired };

/** Names of hints and steps; an interface has tens of them. */
const names = z.array(z.string().min(1).max(100)).max(500);
/** Names as stored: without what the database does not accept. */
const namesOut = z.array(z.string());

const authUser = z
  .object({ id: idOut, is_superuser: z.boolean() })
  .meta({ id: 'AuthUserResponse', description: 'The user of the key.' });

const onboarding = z
  .object({
    completed_at: timeOut.nullable().default(null),
    skipped: z.boolean().default(false),
    seen_tooltips: namesOut.default([]),
    completed_actions: namesOut.default([]),
  })
  .meta({ id: 'OnboardingState', description: 'Notes of a user interface.' });

const onboardingUpdate = z.object({
  completed_at: momentIn
    .nullish()
    .describe('When the tour was completed, in ISO 8601. Null clears it. Left out: unchanged.'),
  skipped: z
    .boolean()
    .nullish()
    .describe('Whether the tour was skipped. Null or left out: unchanged.'),
  seen_tooltips: names
    .nullish()
    .describe('Names of all hints that were seen, at most 500. Null or left out: unchanged.'),
  completed_actions: names
    .nullish()
    .describe('Names of all steps that were taken, at most 500. Null or left out: unchanged.'),
});

export function userRoutes(api: Api, deps: ApiDeps): void {
  const { users } = deps.store;

  api.get(
    '/user/auth/user',
    {
      schema: {
        ...common,
        operationId: 'getAuthUser',
        summary: 'Get the current user',
        description: 'The id of the user whose credentials ask.',
        response: { 200: authUser, ...faults() },
      },
    },
    async (request) => ({ id: principalOf(request).userId, is_superuser: false }),
  );

  api.get(
    '/user/onboarding-state',
    {
      schema: {
        ...common,
        operationId: 'getOnboardingState',
        summary: 'Get the onboarding state',
        description: 'What a user interface has noted about its tour.',
        response: { 200: onboarding, ...faults() },
      },
    },
    async (request) => onboarding.parse(await users.onboarding(principalOf(request).userId)),
  );

  api.put(
    '/user/onboarding-state',
    {
      schema: {
        ...common,
        operationId: 'updateOnboardingState',
        summary: 'Update the onboarding state',
        description: 'Changes it; what is left out stays.',
        body: onboardingUpdate,
        response: { 200: onboarding, ...faults() },
      },
    },
    async (request) => {
      const patch = noted(request.body);
      return onboarding.parse(await users.setOnboarding(principalOf(request).userId, patch));
    },
  );
}

/** Fields to store. Null clears the time; in other fields it means "unchanged". */
function noted(body: z.infer<typeof onboardingUpdate>): Record<string, unknown> {
  const { completed_at: at, ...rest } = body;
  const given = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  if (at === undefined) return Object.fromEntries(given);
  return { ...Object.fromEntries(given), completed_at: isoTimeOrNull(at) };
}
