// URLs of a run's webhooks and media socket for providers, and limits of a phone call.

import type { Artifact } from '../../../model/run.ts';
import { isHosted, type TelephonyProvider } from '../../../telephony/provider/provider.ts';
import { WEB_MEDIA_PATH } from '../../../transport/media-token.ts';

/** Seconds that a callee's phone rings before we give up. */
export const RING_S = 60;
/** Seconds by which the limit at the provider exceeds the agent's own: the provider ends the call where the gateway
 *  cannot. */
export const CALL_S_EXTRA = 60;

/** Path of the audio for callers who wait for a place. */
export const WAITING_SOUND_PATH = '/api/v1/telephony/waiting-sound.wav';

/** The run's webhook URLs. `publicUrl` has no trailing slash. The URLs of a PBX, which has no webhooks, are not
 *  used. */
export function callbackUrls(
  publicUrl: string,
  provider: TelephonyProvider,
  runId: string,
): Record<
  'answerUrl' | 'statusUrl' | 'answeredByUrl' | 'transferUrl' | 'resumeUrl' | 'waitUrl',
  string
> {
  const base = `${publicUrl}/api/v1/telephony/${provider.name}`;
  const { status, answeredBy } = isHosted(provider) ? provider.webhook.routes : NO_ROUTES;
  return {
    answerUrl: `${base}/answer/${runId}`,
    statusUrl: `${base}/${status}/${runId}`,
    answeredByUrl: `${base}/${answeredBy}/${runId}`,
    transferUrl: `${base}/transfer/${runId}`,
    resumeUrl: `${base}/resume/${runId}`,
    waitUrl: `${base}/wait/${runId}`,
  };
}

/** URLs of one transfer: for the media of its destination's call, and for its result. */
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

/** The media socket of browsers. Its token travels in a header. */
export function webMediaUrl(publicUrl: string): string {
  return publicUrl.replace(/^http/, 'ws') + WEB_MEDIA_PATH;
}

/** A URL under a run's public token. The URL never expires; the token does. */
export function artifactUrl(publicUrl: string, token: string, artifact: Artifact): string {
  return `${publicUrl}/api/v1/public/download/workflow/${token}/${artifact}`;
}
