// Schemas of the library's recordings. Source: contract §10.3.

import { z } from 'zod';
import type { Clip } from '../../model/clip.ts';
import { freeObject, idIn, idOut, isoTime, timeOut } from '../http/values.ts';
import { STORAGE_BACKEND } from './upload-links.ts';

export const RECORDING_BYTES_MAX = 5_242_880;
const BATCH_MAX = 20;
/** Characters of a transcript: a minute of fast speech has fewer than 1,500. */
const TRANSCRIPT_CHARACTERS_MAX = 10_000;
const METADATA_CHARACTERS_MAX = 10_000;

/** Id in place of a deleted user: clients need an id. */
const NOBODY = '0';

export const recordingId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/)
  .meta({
    description:
      'A name that no other recording of the organization has: 1 to 64 letters, digits, `_` and `-`.',
    examples: ['greeting-1'],
  });
const voiceFact = (what: string) =>
  z
    .string()
    .max(200)
    .nullable()
    .default(null)
    .describe(`${what} whose voice the recording resembles. Calls ignore it.`);
export const mimeType = z
  .string()
  .max(100)
  .regex(/^[\w.+-]+\/[\w.+-]+$/)
  .default('audio/wav')
  .describe('`Content-Type` of the request that sends the file, at most 100 characters.');

export const uploadsIn = z
  .object({
    files: z
      .array(
        z.object({
          filename: z.string().min(1).max(255).describe('Name of the file, 1 to 255 characters.'),
          mime_type: mimeType,
          file_size: z.int().gt(0).lte(RECORDING_BYTES_MAX).meta({
            description: 'Bytes of the file, 1 to 5,242,880: as many as will be sent.',
          }),
        }),
      )
      .min(1)
      .max(BATCH_MAX)
      .describe('The WAV files that will be sent, 1 to 20.'),
  })
  .meta({ id: 'BatchRecordingUploadRequestSchema' });

export const uploadsOut = z
  .object({
    items: z.array(
      z.object({
        upload_url: z.string().describe('Takes the file by PUT within 1,800 seconds.'),
        recording_id: z.string().describe('A free name, for `createRecordings`.'),
        storage_key: z.string().describe('For `createRecordings`.'),
      }),
    ),
  })
  .meta({
    id: 'BatchRecordingUploadResponseSchema',
    description: 'A link for each file, in their order.',
  });

export const recordingsIn = z
  .object({
    recordings: z
      .array(
        z.object({
          recording_id: recordingId,
          transcript: z
            .string()
            .max(TRANSCRIPT_CHARACTERS_MAX)
            .describe(
              'What is said in it, in up to 10,000 characters. Spoken where the file cannot be played.',
            ),
          storage_key: z
            .string()
            .max(300)
            .describe('The `storage_key` of `createRecordingUploads`, to whose link it was sent.'),
          workflow_id: idIn
            .nullable()
            .default(null)
            .describe('Id of the agent that it is for. Null: for every agent.'),
          tts_provider: voiceFact('The service'),
          tts_model: voiceFact('The model'),
          tts_voice_id: voiceFact('The voice'),
          metadata: freeObject
            .nullable()
            .default({})
            .refine((value) => JSON.stringify(value).length <= METADATA_CHARACTERS_MAX, {
              error: `at most ${METADATA_CHARACTERS_MAX} characters as JSON`,
            })
            .describe('Facts of your own, at most 10,000 characters as JSON.'),
        }),
      )
      .min(1)
      .max(BATCH_MAX)
      .describe('Recordings, 1 to 20: all of them are stored, or none.'),
  })
  .meta({ id: 'BatchRecordingCreateRequestSchema' });

export const recordingOut = z
  .object({
    id: idOut,
    recording_id: z.string(),
    workflow_id: idOut.nullable(),
    organization_id: idOut,
    tts_provider: z.string().nullable(),
    tts_model: z.string().nullable(),
    tts_voice_id: z.string().nullable(),
    transcript: z.string(),
    storage_key: z.string(),
    storage_backend: z.enum(['s3', 'minio']),
    metadata: freeObject,
    created_by: idOut,
    created_at: timeOut,
    is_active: z.boolean(),
  })
  .meta({ id: 'RecordingResponseSchema', description: 'A recording of the library.' });

export const recordingsOut = z
  .object({ recordings: z.array(recordingOut), total: z.int().describe('Recordings in the list.') })
  .meta({ id: 'RecordingListResponseSchema', description: 'Recordings, newest first.' });

export function recordingOnWire(clip: Clip): z.infer<typeof recordingOut> {
  return {
    id: clip.id,
    recording_id: clip.name,
    workflow_id: clip.workflowId,
    organization_id: clip.organizationId,
    tts_provider: clip.ttsProvider,
    tts_model: clip.ttsModel,
    tts_voice_id: clip.ttsVoiceId,
    transcript: clip.transcript,
    storage_key: clip.storageKey,
    storage_backend: STORAGE_BACKEND,
    metadata: clip.metadata,
    created_by: clip.userId ?? NOBODY,
    created_at: isoTime(clip.createdAt),
    is_active: clip.isActive,
  };
}
