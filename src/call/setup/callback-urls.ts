// The URLs of a run's webhooks and media socket for providers, and limits of a phone call.

import type { Artifact } from '../../model/run.ts';
import { isHosted, type TelephonyProvider } from '../../telephony/provider/provider.ts';

/** Seconds that a callee's phone rings before we give up. */
export const RING_S = 60;
/** How much longer than the agent's own limit a call is allowed at its provider, which ends it where we cannot. */
export const CALL_S_EXTRA = 60;

/** `publicUrl` has no trailing slash. A PBX has no webhooks; its URLs are never asked for. */
export function callbackUrls(
  publicUrl: string,
  provider: TelephonyProvider,
  runId: string,
): { answerUrl: string; statusUrl: string; answeredByUrl: string; transferUrl: string } {
  const base = `${publicUrl}/api/v1/telephony/${provider.name}`;
  const { status, answeredBy } = isHosted(provider) ? provider.webhook.routes : NO_ROUTES;
  return {
    answerUrl: `${base}/answer/${runId}`,
    statusUrl: `${base}/${status}/${runId}`,
    answeredByUrl: `${base}/${answeredBy}/${runId}`,
    transferUrl: `${base}/transfer/${runId}`,
  };
}

/** The URLs of one transfer: where its destination's call asks for media, and where its result is reported. */
export function transferUrls(
  publicUrl: string,
  provider: TelephonyProvider,
  transferId: string,
): { answerUrl: string; resultUrl: string } {
  const base = `${publicUrl}/api/v1/telephony`;
  const result = isHosted(provider) ? provider.webhook.routes.transferResult : 'transfer-result';
  return {
    answerUrl: `${base}/${provider.name}/answer/${transferId}`,
    resultUrl: `${base}/${result}/${transferId}`,
  };
}

const NO_ROUTES = { status: 'status-callback', answeredBy: 'answered-by' };

/** The secret is in the path: some providers drop query strings. */
export function mediaUrl(
  publicUrl: string,
  run: { workflowId: string; organizationId: string; id: string },
  token: string,
): string {
  const base = publicUrl.replace(/^http/, 'ws');
  return `${base}/api/v1/telephony/ws/${run.workflowId}/${run.organizationId}/${run.id}/${token}`;
}

/** A URL under a run's public token. The URL never expires; the token does. */
export function artifactUrl(publicUrl: string, token: string, artifact: Artifact): string {
  return `${publicUrl}/api/v1/public/download/workflow/${token}/${artifact}`;
}
