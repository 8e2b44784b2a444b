// A run's files and the links to them: which there are, what they are called, who may have them.
// One stereo recording is stored; the mono mix and the single tracks are drawn from it when asked for.
// Source: contract decision 2, §6.2 and §6.4.

import { GatewayError } from '../errors.ts';
import type { Artifact, Run } from '../model/run.ts';
import type { RecordingTrack } from '../store/recording-tracks.ts';
import type { ApiDeps } from './deps.ts';

/** Life of a link when nobody says otherwise. */
export const LINK_LIFE_S = 3_600;
/** Where links lead: FileLinks signs paths below it. */
export const FILES_PATH = '/api/v1/files/';

/** A stored file, or a track of a stored recording. */
export interface RunFile {
  /** As it is in links. */
  key: string;
  /** As it is in storage. */
  storedKey: string;
  track: RecordingTrack | null;
  runId: string;
  contentType: string;
}

const WAV = 'audio/wav';
const TEXT = 'text/plain; charset=utf-8';
const RECORDING = /^recordings\/(\d{1,19})\.wav$/;
const TRACK = /^recordings\/(\d{1,19})\/(user|bot|mono)\.wav$/;
const TRANSCRIPT = /^transcripts\/(\d{1,19})\.txt$/;
const trackNames: Readonly<Record<string, RecordingTrack>> = {
  user: 'caller',
  bot: 'agent',
  mono: 'mix',
};

/** The file of a key. Throws FILE_KEY_INVALID. */
export function runFileOf(key: string): RunFile {
  const recording = RECORDING.exec(key)?.[1];
  if (recording !== undefined) {
    return { key, storedKey: key, track: null, runId: recording, contentType: WAV };
  }
  const transcript = TRANSCRIPT.exec(key)?.[1];
  if (transcript !== undefined) {
    return { key, storedKey: key, track: null, runId: transcript, contentType: TEXT };
  }
  const [, runId, name] = TRACK.exec(key) ?? [];
  const track = trackNames[name ?? ''];
  if (runId === undefined || track === undefined) throw new GatewayError('FILE_KEY_INVALID');
  return { key, storedKey: `recordings/${runId}.wav`, track, runId, contentType: WAV };
}

/** The key of a run's artifact; null if there is none (yet). */
export function artifactKey(run: Run, artifact: Artifact, mix?: 'mono' | undefined): string | null {
  if (artifact === 'transcript') return run.transcriptKey;
  if (run.recordingKey === null) return null;
  const folder = run.recordingKey.replace(/\.wav$/, '');
  if (artifact === 'user_recording') return `${folder}/user.wav`;
  if (artifact === 'bot_recording') return `${folder}/bot.wav`;
  return mix === 'mono' ? `${folder}/mono.wav` : run.recordingKey;
}

/** An absolute URL that works without a key, for a while. */
export function linkTo(
  deps: ApiDeps,
  key: string,
  options: { inline?: boolean; expiresInS?: number } = {},
): string {
  const { inline = false, expiresInS = LINK_LIFE_S } = options;
  const fileName = key.replaceAll('/', '-');
  return deps.publicUrl + deps.links.sign({ key, inline, fileName, expiresInS });
}

/** A URL under the run's public token, which never expires; what it leads to does. */
export function publicUrlOf(deps: ApiDeps, token: string, artifact: Artifact): string {
  return `${deps.publicUrl}/api/v1/public/download/workflow/${token}/${artifact}`;
}
