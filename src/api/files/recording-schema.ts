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
  .meta({ examples: ['greeting-1'] });
const voiceFact = z.string().max(200).nullable().default(null);
export const mimeType = z
  .string()
  .max(100)
  .regex(/^[\w.+-]+\/[\w.+-]+$/)
  .default('audio/wav');

export const uploadsIn = z
  .object({
    files: z
      .array(
        z.object({
          filename: z.string().min(1).max(255),
          mime_type: mimeType,
          file_size: z
            .int()
            .gt(0)
            .lte(RECORDING_BYTES_MAX)
            .meta({ description: 'Bytes of the file.' }),
        }),
      )
      .min(1)
      .max(BATCH_MAX),
  })
  .meta({ id: 'BatchRecordingUploadRequestSchema' });

export const uploadsOut = z
  .object({
    items: z.array(
      z.object({ upload_url: z.string(), recording_id: z.string(), storage_key: z.string() }),
    ),
  })
  .meta({ id: 'BatchRecordingUploadResponseSchema' });

export const recordingsIn = z
  .object({
    recordings: z
      .array(
        z.object({
          recording_id: recordingId,
          transcript: z.string().max(TRANSCRIPT_CHARACTERS_MAX),
          storage_key: z.string().max(300),
          workflow_id: idIn.nullable().default(null),
          tts_provider: voiceFact,
          tts_model: voiceFact,
          tts_voice_id: voiceFact,
          metadata: freeObject
            .nullable()
            .default({})
            .refine((value) => JSON.stringify(value).length <= METADATA_CHARACTERS_MAX, {
              error: `at most ${METADATA_CHARACTERS_MAX} characters as JSON`,
            }),
        }),
      )
      .min(1)
      .max(BATCH_MAX),
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
  .meta({ id: 'RecordingResponseSchema' });

export const recordingsOut = z
  .object({ recordings: z.array(recordingOut), total: z.int() })
  .meta({ id: 'RecordingListResponseSchema' });

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
