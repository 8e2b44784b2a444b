// Parts that all admissions of media sockets share: the request as the provider signed it, and the refusal. Close
// codes: contract §7.4.

import { mediaFaults } from '../../metrics/metrics.ts';
import type { ProviderRequest } from '../../telephony/provider/provider.ts';
import { CLOSE } from '../../transport/media-socket.ts';
import type { MediaPath } from '../../transport/media-token.ts';

export type Headers = Record<string, string | undefined>;

export interface RefusedMedia {
  refuse: number;
  reason: string;
}

export function refuseMedia(code: keyof typeof CLOSE, reason: string): RefusedMedia {
  const isUnauthorized = code === 'unauthorized';
  mediaFaults.inc({ code: isUnauthorized ? 'MEDIA_UNAUTHORIZED' : 'MEDIA_REFUSED' });
  return { refuse: CLOSE[code], reason };
}

/** Rebuilds the signed request. `publicUrl` has no trailing slash. */
export function upgradeRequest(
  publicUrl: string,
  { workflowId, organizationId, runId, token }: MediaPath,
  headers: Headers,
): ProviderRequest {
  const base = publicUrl.replace(/^http/, 'ws');
  return {
    method: 'GET',
    url: `${base}/api/v1/telephony/ws/${workflowId}/${organizationId}/${runId}/${token}`,
    headers,
    rawBody: Buffer.alloc(0),
    form: {},
    formAll: {},
    json: undefined,
  };
}
