// A configuration of Asterisk as the connector uses it: checked, and with what follows from it.

import type { z } from 'zod';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { ProviderCredentials } from '../../provider/terms.ts';
import { ariConfig } from './config.ts';

export type AriConfig = z.infer<typeof ariConfig>;

export interface AriAccount extends AriConfig {
  /** The Stasis application, which no other configuration has. Contract §0: configurations that were
   *  stored without one use the user's name. */
  app: string;
}

/** Throws PROVIDER_AUTH if they cannot be Asterisk's. */
export function accountOf(credentials: ProviderCredentials): AriAccount {
  const config = ariConfig.safeParse({ ...credentials, provider: 'ari' });
  if (!config.success) throw new GatewayError('PROVIDER_AUTH', { provider: 'ari' }, config.error);
  const stasis = credentials['stasis_app_name'];
  const app = typeof stasis === 'string' && stasis !== '' ? stasis : config.data.app_name;
  return { ...config.data, app };
}

export function basicAuth({ app_name, app_password }: AriAccount): string {
  return `Basic ${Buffer.from(`${app_name}:${app_password}`).toString('base64')}`;
}

/** The REST interface's address, without a trailing slash. */
export function restUrl({ ari_endpoint }: AriAccount): string {
  return `${ari_endpoint.replace(/\/+$/, '')}/ari`;
}
