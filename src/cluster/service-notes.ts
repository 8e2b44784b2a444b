// What the call workers know of speech and model services, for the API process.

import { z } from 'zod';
import type { Log } from '../log.ts';
import { mergedNotes, type ServiceNotes, serviceNotes } from '../model/service-state.ts';
import type { IpcChannel } from './ipc-channel.ts';

/** Deadline of a worker's reply; a worker that is too busy is omitted. */
const REPLY_MS_MAX = 1_000;

const notesList = z.array(serviceNotes);

interface OwnNotes {
  readonly all: ServiceNotes[];
}

/** Answers requests for this process's notes. */
export function shareServiceNotes(link: IpcChannel, own: OwnNotes): void {
  link.onRequest('service-notes', async () => own.all);
}

/** The notes of this process and of those `others` that answer, merged. */
export async function collectServiceNotes(
  link: IpcChannel,
  { own, others, log }: { own: OwnNotes; others: readonly number[]; log: Log },
): Promise<ServiceNotes[]> {
  const asked = others.map(async (worker) => {
    try {
      return notesList.parse(await link.request(worker, 'service-notes', {}, REPLY_MS_MAX));
    } catch (error) {
      log.warn({ err: error, worker }, 'a worker reported no states of services');
      return [];
    }
  });
  return mergedNotes([own.all, ...(await Promise.all(asked))]);
}
