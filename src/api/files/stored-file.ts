// The file that a storage key names: its owner, its place in storage, its content type. Files of runs belong to the
// run's organization; all other keys contain the organization. Source: contract §6.4.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { RecordingTrack } from '../../store/files/recording-tracks.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** A stored file, or a track of a stored recording. */
export interface StoredFile {
  /** Key in links. */
  key: string;
  /** Key in storage. */
  storedKey: string;
  track: RecordingTrack | null;
  owner: { runId: string } | { organizationId: string };
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

const NAME = '[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}';
/** Key patterns of uploaded files: the organization, then the file's name. */
const FAMILIES = [
  new RegExp(`^campaigns/(\\d{1,19})/${NAME}$`),
  new RegExp(`^recordings/(\\d{1,19})/[A-Za-z0-9_-]{1,64}/${NAME}$`),
  new RegExp(`^ambient_noise/(\\d{1,19})/\\d{1,19}/${NAME}$`),
  new RegExp(`^knowledge_base/(\\d{1,19})/${NAME}(?:/${NAME})?$`),
];

/** Content types by extension. Any other file is plain bytes, which browsers do not run. */
const contentTypes: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  txt: TEXT,
  wav: WAV,
};

/** The file of a key. Throws FILE_KEY_INVALID. */
export function storedFileOf(key: string): StoredFile {
  const recording = RECORDING.exec(key)?.[1];
  if (recording !== undefined) return fileOfRun(key, { runId: recording, contentType: WAV });
  const transcript = TRANSCRIPT.exec(key)?.[1];
  if (transcript !== undefined) return fileOfRun(key, { runId: transcript, contentType: TEXT });
  const [, runId, name] = TRACK.exec(key) ?? [];
  const track = trackNames[name ?? ''];
  if (runId !== undefined && track !== undefined) {
    const file = fileOfRun(key, { runId, contentType: WAV });
    return { ...file, track, storedKey: `recordings/${runId}.wav` };
  }
  return uploadedFile(key);
}

function fileOfRun(key: string, facts: { runId: string; contentType: string }): StoredFile {
  const { runId, contentType } = facts;
  return { key, storedKey: key, track: null, owner: { runId }, contentType };
}

function uploadedFile(key: string): StoredFile {
  const organizationId = FAMILIES.map((family) => family.exec(key)?.[1]).find(Boolean);
  if (organizationId === undefined) throw new GatewayError('FILE_KEY_INVALID');
  const end = /\.([a-z0-9]+)$/i.exec(key)?.[1]?.toLowerCase() ?? '';
  const contentType = contentTypes[end] ?? 'application/octet-stream';
  return { key, storedKey: key, track: null, owner: { organizationId }, contentType };
}

/** The file of a key that belongs to the organization. Throws FILE_KEY_INVALID, FILE_FORBIDDEN. */
export async function ownFile(
  deps: Pick<ApiDeps, 'store'>,
  organizationId: string,
  key: string,
): Promise<StoredFile> {
  const file = storedFileOf(key);
  const isOwn =
    'runId' in file.owner
      ? (await deps.store.runs.get(organizationId, file.owner.runId)) !== undefined
      : file.owner.organizationId === organizationId;
  if (!isOwn) throw new GatewayError('FILE_FORBIDDEN');
  return file;
}
