// Routes of the library of recorded speech and of agents' background noise: upload links, and the stored recordings.
// Source: contract §5.1, §10.3.

import { z } from 'zod';
import type { ClipLibrary } from '../../call/start/setup/sound-library.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { offsetParameter } from '../http/page-parameters.ts';
import { idIn, idInPath, queryInteger } from '../http/values.ts';
import {
  mimeType,
  recordingId,
  recordingOnWire,
  recordingOut,
  recordingsIn,
  recordingsOut,
  uploadsIn,
  uploadsOut,
} from './recording-schema.ts';
import { ownFile } from './stored-file.ts';
import { STORAGE_BACKEND, safeFileName, uploadUrl } from './upload-links.ts';

const LINK_S = 1_800;
const NOISE_BYTES_MAX = 10_485_760;
const LIST_MAX = 1_000;
/** Random bytes of a generated name, so that it is unique. */
const NAME_BYTES = 8;

const common = { tags: ['recordings'], security: keyRequired };

// Not next to the routes, so that it is registered with a name in the API's description.
const noiseIn = z
  .object({
    workflow_id: idIn.describe('Id of the agent that the file is for.'),
    filename: z.string().min(1).max(255).describe('Name of the file, 1 to 255 characters.'),
    mime_type: mimeType,
    file_size: z
      .int()
      .gt(0)
      .lte(NOISE_BYTES_MAX)
      .describe('Bytes of the file, 1 to 10,485,760: as many as will be sent.'),
  })
  .meta({ id: 'AmbientNoiseUploadRequest' });
const renameIn = z
  .object({ recording_id: recordingId })
  .meta({ id: 'RecordingUpdateRequestSchema' });

export interface RecordingDeps extends ApiDeps {
  /** Checks whether an uploaded recording can be played. */
  sounds: Pick<ClipLibrary, 'check'>;
}

export function recordingRoutes(api: Api, deps: RecordingDeps): void {
  uploadRoutes(api, deps);
  listRoute(api, deps);
  createRoute(api, deps);
  renameRoute(api, deps);
  deleteRoute(api, deps);
  transcribeRoute(api);
}

function uploadRoutes(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow-recordings/upload-url',
    {
      schema: {
        ...common,
        operationId: 'createRecordingUploads',
        summary: 'Create recording uploads',
        description:
          'Gives links to which recordings are sent by PUT, before `createRecordings` adds them to the library.',
        body: uploadsIn,
        response: { 200: uploadsOut, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const items = request.body.files.map(async (file) => {
        const name = deps.random.bytes(NAME_BYTES).toString('hex');
        const key = `recordings/${organizationId}/${name}/${safeFileName(file.filename)}`;
        const upload = { key, contentType: file.mime_type, bytes: file.file_size };
        const url = await uploadUrl(deps, { ...upload, expiresInS: LINK_S });
        return { upload_url: url, recording_id: name, storage_key: key };
      });
      return { items: await Promise.all(items) };
    },
  );

  api.post(
    '/workflow/ambient-noise/upload-url',
    {
      schema: {
        ...common,
        operationId: 'createAmbientNoiseUpload',
        summary: 'Create an ambient noise upload',
        description: "Gives a link to which an agent's background noise is sent by PUT.",
        body: noiseIn,
        response: {
          200: z
            .object({
              upload_url: z.string().describe('Takes the file by PUT within 1,800 seconds.'),
              storage_key: z
                .string()
                .describe("For `ambient_noise_configuration` of the agent's settings."),
              storage_backend: z.enum(['s3', 'minio']),
            })
            .meta({
              id: 'AmbientNoiseUploadResponse',
              description: 'A link that takes the file.',
            }),
          ...faults('WORKFLOW_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { workflow_id: id, filename, mime_type: contentType, file_size: size } = request.body;
      const workflow = await deps.store.workflows.get(organizationId, id);
      if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
      const name = `${deps.random.uuid()}_${safeFileName(filename)}`;
      const key = `ambient_noise/${organizationId}/${workflow.id}/${name}`;
      const upload = { key, contentType, bytes: size, expiresInS: LINK_S };
      return {
        upload_url: await uploadUrl(deps, upload),
        storage_key: key,
        storage_backend: STORAGE_BACKEND as typeof STORAGE_BACKEND,
      };
    },
  );
}

function listRoute(api: Api, deps: ApiDeps): void {
  const text = (what: string) =>
    z.string().max(200).optional().describe(`Only recordings with this \`${what}\`. Default: all.`);
  api.get(
    '/workflow-recordings/',
    {
      schema: {
        ...common,
        operationId: 'listRecordings',
        summary: 'List recordings',
        description: "The organization's recordings, newest first.",
        querystring: z.object({
          workflow_id: idIn.optional().meta({
            description:
              'Only recordings for this agent, by its `id`, and those for every agent. Default: all.',
          }),
          tts_provider: text('tts_provider'),
          tts_model: text('tts_model'),
          tts_voice_id: text('tts_voice_id'),
          limit: queryInteger(1, LIST_MAX).default(LIST_MAX).describe('Recordings at most.'),
          offset: offsetParameter,
        }),
        response: { 200: recordingsOut, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { workflow_id: workflowId, limit, offset, ...voice } = request.query;
      const filter = {
        ...(workflowId === undefined ? {} : { workflowId }),
        ...(voice.tts_provider === undefined ? {} : { ttsProvider: voice.tts_provider }),
        ...(voice.tts_model === undefined ? {} : { ttsModel: voice.tts_model }),
        ...(voice.tts_voice_id === undefined ? {} : { ttsVoiceId: voice.tts_voice_id }),
      };
      const page = { limit, offset };
      const { clips, total } = await deps.store.clips.list(organizationId, filter, page);
      return { recordings: clips.map(recordingOnWire), total };
    },
  );
}

function createRoute(api: Api, deps: RecordingDeps): void {
  api.post(
    '/workflow-recordings/',
    {
      schema: {
        ...common,
        operationId: 'createRecordings',
        summary: 'Create recordings',
        description: 'Adds files that were sent to the library; all of them or none.',
        body: recordingsIn,
        response: {
          200: recordingsOut,
          ...faults(
            'FILE_KEY_INVALID',
            'CLIP_UNUSABLE',
            'FILE_FORBIDDEN',
            'WORKFLOW_NOT_FOUND',
            'CLIP_NAME_TAKEN',
            'FILES_UNAVAILABLE',
          ),
        },
      },
    },
    async (request) => {
      const owner = principalOf(request);
      const { recordings } = request.body;
      for (const { recording_id: name, storage_key: key } of recordings) {
        const file = await ownFile(deps, owner.organizationId, key);
        if ('runId' in file.owner || !key.startsWith('recordings/')) {
          throw new GatewayError('FILE_KEY_INVALID');
        }
        await deps.sounds.check(name, key);
      }
      const clips = await deps.store.clips.create(
        owner,
        recordings.map((recording) => ({
          name: recording.recording_id,
          transcript: recording.transcript,
          storageKey: recording.storage_key,
          workflowId: recording.workflow_id,
          ttsProvider: recording.tts_provider,
          ttsModel: recording.tts_model,
          ttsVoiceId: recording.tts_voice_id,
          metadata: recording.metadata ?? {},
        })),
      );
      return { recordings: clips.map(recordingOnWire), total: clips.length };
    },
  );
}

function renameRoute(api: Api, deps: ApiDeps): void {
  api.patch(
    '/workflow-recordings/:recording_id',
    {
      schema: {
        ...common,
        operationId: 'renameRecording',
        summary: 'Rename a recording',
        description: 'Gives a recording another name.',
        params: z.object({
          recording_id: idInPath.describe(
            "The recording's `id`, a number; not its `recording_id`.",
          ),
        }),
        body: renameIn,
        response: { 200: recordingOut, ...faults('CLIP_NOT_FOUND', 'CLIP_NAME_TAKEN') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { recording_id: id } = request.params;
      const clip = await deps.store.clips.rename(organizationId, id, request.body.recording_id);
      if (clip === undefined) throw new GatewayError('CLIP_NOT_FOUND');
      return recordingOnWire(clip);
    },
  );
}

function deleteRoute(api: Api, deps: ApiDeps): void {
  api.delete(
    '/workflow-recordings/:recording_id',
    {
      schema: {
        ...common,
        operationId: 'deleteRecording',
        summary: 'Delete a recording',
        description: 'Takes a recording out of use.',
        params: z.object({
          recording_id: z.string().describe("The recording's `recording_id`, its name."),
        }),
        response: {
          200: z
            .object({ success: z.literal(true), message: z.string() })
            .describe('The recording is out of use.'),
          ...faults('CLIP_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { recording_id: name } = request.params;
      const found = await deps.store.clips.remove(organizationId, name);
      if (!found) throw new GatewayError('CLIP_NOT_FOUND');
      return { success: true as const, message: 'Recording deleted successfully' };
    },
  );
}

/** The transcription route. This version has no recogniser for whole recordings: the reply says so, whatever the
 *  client sends. */
function transcribeRoute(api: Api): void {
  api.post(
    '/workflow-recordings/transcribe',
    {
      bodyLimit: 2 * 5_242_880,
      config: { providerBody: true },
      schema: {
        ...common,
        operationId: 'transcribeRecording',
        summary: 'Transcribe a recording',
        description: 'The words in a sound file; needs a recogniser for free speech.',
        response: {
          200: z.object({ transcript: z.string() }).describe('The words.'),
          ...faults('TRANSCRIPTION_UNAVAILABLE'),
        },
      },
    },
    async () => {
      throw new GatewayError('TRANSCRIPTION_UNAVAILABLE');
    },
  );
}
