// Peaks of recordings on the disks of other gateways: while a call goes on, and until its recording is in S3, only the
// gateway that has it can read it. Requests go from API process to API process, which hold no calls.

import { z } from 'zod';
import { codeOf } from '../errors/gateway-error.ts';
import type { Peaks, PeaksWanted, RecordingPeaks } from '../store/files/recording-peaks.ts';
import { PEAK_BINS_MAX } from '../store/files/recording-peaks.ts';
import { runOfFile } from '../store/files/run-files.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { gatewayOfNode } from './ipc-message.ts';

/** Deadline of an answer: a recording of hours is read in a second or two. */
const PEAKS_MS_MAX = 8_000;
const TOPIC = 'peaks';
const MS_MAX = 86_400_000;
/** Characters of the values of an answer, in base64. */
const VALUES_LENGTH_MAX = Math.ceil((PEAK_BINS_MAX * 4) / 3) * 4;

const ms = z.number().min(0).max(MS_MAX);
const wantedPeaks = z.object({
  key: z.string().refine((key) => runOfFile(key) !== undefined),
  fromMs: ms,
  toMs: ms.optional(),
  bins: z.int().min(1).max(PEAK_BINS_MAX),
  binMs: ms.optional(),
});
const remotePeaks = z
  .object({
    durationMs: ms,
    fromMs: ms,
    binMs: ms,
    bins: z.int().min(0).max(PEAK_BINS_MAX),
    etag: z.string().max(200),
    values: z.string().max(VALUES_LENGTH_MAX),
  })
  .nullable();

/** Answers other gateways. */
export function answerPeaks(bus: IpcChannel<string>, peaks: Pick<RecordingPeaks, 'read'>): void {
  bus.onRequest(TOPIC, async (body) => {
    const { key, ...wanted } = wantedPeaks.parse(body);
    const found = await peaks.read(key, wanted);
    return found === undefined
      ? null
      : { ...found, values: Buffer.from(found.values.buffer).toString('base64') };
  });
}

/** Peaks at the gateway of the process `node`. Undefined if it has no such file, is not known, or does not answer. */
export async function peaksAt(
  { bus, isKnown }: { bus: IpcChannel<string>; isKnown: (gateway: string) => boolean },
  node: string,
  { key, ...wanted }: PeaksWanted & { key: string },
): Promise<Peaks | undefined> {
  const gateway = gatewayOfNode(node);
  if (!isKnown(gateway)) return undefined;
  try {
    const found = remotePeaks.parse(
      await bus.request(gateway, TOPIC, { key, ...wanted }, PEAKS_MS_MAX),
    );
    if (found === null) return undefined;
    const bytes = Buffer.from(found.values, 'base64');
    return { ...found, values: new Int8Array(bytes) };
  } catch (error) {
    // A gateway of an earlier version does not know the topic; one that left does not answer.
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}
