// A run's files and the links to them. One stereo recording is stored; the mono mix and the single tracks are derived
// from it on request. Source: contract decision 2, §6.2 and §6.4.

import { artifactUrl } from '../../call/start/setup/callback-urls.ts';
import type { Artifact, Run } from '../../model/run.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** Default lifetime of a link. */
export const LINK_LIFE_S = 3_600;
/** Path of file links: FileLinks signs paths below it. */
export const FILES_PATH = '/api/v1/files/';

/** The key of a run's artifact; null if there is none (yet). */
export function artifactKey(run: Run, artifact: Artifact, mix?: 'mono' | undefined): string | null {
  if (artifact === 'transcript') return run.transcriptKey;
  if (run.recordingKey === null) return null;
  const folder = run.recordingKey.replace(/\.wav$/, '');
  if (artifact === 'user_recording') return `${folder}/user.wav`;
  if (artifact === 'bot_recording') return `${folder}/bot.wav`;
  return mix === 'mono' ? `${folder}/mono.wav` : run.recordingKey;
}

/** An absolute URL that works without a key for a limited time. */
export function linkTo(
  deps: ApiDeps,
  key: string,
  options: { inline?: boolean; expiresInS?: number } = {},
): string {
  const { inline = false, expiresInS = LINK_LIFE_S } = options;
  const fileName = key.replaceAll('/', '-');
  return deps.publicUrl + deps.links.sign({ key, inline, fileName, expiresInS });
}

/** A URL under the run's public token; it works as long as the token does. */
export function publicUrlOf(
  deps: Pick<ApiDeps, 'publicUrl'>,
  token: string,
  artifact: Artifact,
): string {
  return artifactUrl(deps.publicUrl, token, artifact);
}
