// Fields of recognisers and voices that are described as data.

import { z } from 'zod';
import { describedAddress } from './service-address.ts';
import { secretKey } from './service-key.ts';

export const socketUrl = describedAddress(/^wss?$/);
export const language = z.string().trim().min(1).max(35).describe('As the service names it.');

/** A service's own name, with the known ones as examples; `first` is the default. */
export const named = (first: string, ...more: string[]) =>
  z
    .string()
    .trim()
    .min(1)
    .max(200)
    .default(first)
    .meta({ examples: [first, ...more], allow_custom_input: true });

export const about = (title: string, description: string, docs: string) => ({
  title,
  description: `${description} Never tried on a live account.`,
  provider_docs_url: docs,
});

/** Key fields of a user's own description. */
export const ownKeys = {
  api_key: secretKey.optional().describe('{key} in the description.'),
  api_secret: secretKey.optional().describe('{secret}: a second key, for services with two.'),
};
