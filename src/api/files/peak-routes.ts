// GET /workflow/{workflow_id}/runs/{run_id}/peaks: the waveform of a run's recording, also while the call goes on. A
// recording on the disk of another gateway is measured there, if gateways reach each other. Extension.

import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import {
  PEAK_BINS_MAX,
  type Peaks,
  type PeaksWanted,
  type RecordingPeaks,
} from '../../store/files/recording-peaks.ts';
import { recordingKey } from '../../store/files/run-files.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { runByPath, runInPath } from '../http/path-parameters.ts';
import { queryInteger } from '../http/values.ts';

/** A day: no recording is longer. */
const MS_MAX = 86_400_000;
/** Of a call whose recording has not begun. */
const NOT_BEGUN: Peaks = {
  durationMs: 0,
  fromMs: 0,
  binMs: 20,
  bins: 0,
  etag: 'not begun',
  values: new Int8Array(),
};

export interface PeakDeps {
  /** Recordings that this gateway reads. */
  peaks: Pick<RecordingPeaks, 'read'>;
  /** Peaks of a recording at the gateway of the process `node`. Undefined: it has no such file, or cannot be reached.
   *  Default: there are no other gateways. */
  peaksElsewhere?:
    | ((node: string, key: string, wanted: PeaksWanted) => Promise<Peaks | undefined>)
    | undefined;
}

const query = z.object({
  bins: queryInteger(1, PEAK_BINS_MAX)
    .default(1_200)
    .describe(`Bins at most, 1 to ${PEAK_BINS_MAX.toLocaleString('en')}.`),
  from_ms: queryInteger(0, MS_MAX)
    .default(0)
    .describe('Begin of the first bin, in milliseconds from the begin of the recording.'),
  to_ms: queryInteger(0, MS_MAX)
    .optional()
    .describe('End of the last bin. Default: the end of the recording, or of what is written.'),
  bin_ms: queryInteger(1, 60_000)
    .optional()
    .describe(
      'Length of a bin, 1 to 60,000 ms; above 20 it is raised to a multiple of 20. Only whole bins are sent then, so that a client that follows a call asks next from the end of the last one. Default: as short as `bins` bins cover the span.',
    ),
});

const answer = {
  description: [
    'Four signed bytes a bin: lowest and highest sample of the caller, lowest and highest of the agent, each divided by',
    '256. `X-Duration-Ms` is the length of the recording so far, `X-From-Ms` the begin of the first bin, `X-Bin-Ms` the',
    'length of each, `X-Bins` their number. Bins of 20 ms and more begin at multiples of 20 ms. Of a recording of more',
    'than six hours the first six have peaks.',
  ].join(' '),
  content: { 'application/octet-stream': { schema: z.string().meta({ format: 'binary' }) } },
};

export function peakRoutes(api: Api, deps: ApiDeps & PeakDeps): void {
  api.get(
    '/workflow/:workflow_id/runs/:run_id/peaks',
    {
      exposeHeadRoute: false,
      schema: {
        tags: ['runs'],
        security: keyRequired,
        operationId: 'getRunPeaks',
        summary: 'Get the waveform of a run',
        description:
          'Lowest and highest samples of both channels of the recording, also while the call goes on: no bins before it begins.',
        params: runInPath,
        querystring: query,
        response: {
          200: answer,
          304: z.literal('').meta({ description: 'What the client has is still good.' }),
          ...faults(
            'RUN_NOT_FOUND',
            'ARTIFACT_MISSING',
            'FILE_NOT_YET_STORED',
            'FILES_UNAVAILABLE',
            'TOO_MANY_REQUESTS',
          ),
        },
      },
    },
    async (request, reply) => {
      const run = await runByPath(deps, request, request.params);
      const { bins, from_ms: fromMs, to_ms: toMs, bin_ms: binMs } = request.query;
      const peaks = await peaksOf(deps, run, { bins, fromMs, toMs, binMs });
      return send(reply, peaks, request.headers['if-none-match']);
    },
  );
}

/** Throws ARTIFACT_MISSING, FILE_NOT_YET_STORED. */
async function peaksOf(
  { store, peaks, peaksElsewhere }: ApiDeps & PeakDeps,
  run: Run,
  wanted: PeaksWanted,
): Promise<Peaks> {
  const key = run.recordingKey ?? recordingKey(run.id);
  const isOver = run.state === 'completed';
  const node = isOver
    ? await store.runs.filesElsewhere(run.id)
    : (await store.runs.owner(run.id))?.node;
  const elsewhere = node === undefined ? undefined : await peaksElsewhere?.(node, key, wanted);
  const found = elsewhere ?? (await peaks.read(key, wanted));
  if (found !== undefined) return found;
  if (!isOver) return NOT_BEGUN;
  if (node !== undefined) throw new GatewayError('FILE_NOT_YET_STORED');
  throw new GatewayError('ARTIFACT_MISSING', { artifact: 'recording' });
}

function send(reply: FastifyReply, peaks: Peaks, known: string | undefined) {
  const { durationMs, fromMs, binMs, bins, etag, values } = peaks;
  const version = `"${etag.replaceAll('"', '')}-${fromMs}-${binMs}-${bins}"`;
  reply
    .type('application/octet-stream')
    .header('Cache-Control', 'private, no-cache')
    .header('ETag', version)
    .header('X-Duration-Ms', Math.floor(durationMs))
    .header('X-From-Ms', fromMs)
    .header('X-Bin-Ms', binMs)
    .header('X-Bins', bins);
  if (known === version) return reply.status(304).send('');
  return reply.send(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
}
