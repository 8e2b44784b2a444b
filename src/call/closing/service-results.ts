// What a call's log says of its speech services: which have a fault that goes on until their owner changes something, and
// which worked. A service with such a fault did not work, even if it did before or after.

import type { CallEvent } from '../../model/call-event.ts';
import type { Store } from '../../store/store.ts';

type MetServiceFault = Parameters<Store['serviceFaults']['note']>[1];
type ServiceName = Pick<MetServiceFault, 'job' | 'service'>;

export interface ServiceResults {
  /** The last fault of each service. */
  faults: MetServiceFault[];
  worked: ServiceName[];
}

const JOBS = { 'model.usage': 'llm', 'speech.usage': 'tts', 'recognition.usage': 'stt' } as const;

export function serviceResultsOf(events: readonly CallEvent[]): ServiceResults {
  const faults = new Map<string, MetServiceFault>();
  const worked = new Map<string, ServiceName>();
  for (const { body } of events) {
    if (body.type === 'fault') {
      if (body.service === undefined) continue;
      const { job, name: service, kind, detail } = body.service;
      faults.set(`${job} ${service}`, { job, service, kind, detail });
    } else if (
      body.type === 'model.usage' ||
      body.type === 'speech.usage' ||
      body.type === 'recognition.usage'
    ) {
      const job = JOBS[body.type];
      worked.set(`${job} ${body.service}`, { job, service: body.service });
    }
  }
  for (const key of faults.keys()) worked.delete(key);
  return { faults: [...faults.values()], worked: [...worked.values()] };
}
