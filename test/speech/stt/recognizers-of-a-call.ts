// A call on services `a`, `b`, ... that fall back to each other, with a rig that needs no network.

import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import {
  type RecognizingOptions,
  RecognizingService,
} from '../../fakes/services/recognizing-service.ts';
import { changeInWords } from '../change-in-words.ts';
import { RecognizerRig } from './recognizer-rig.ts';
import { SpeakingCaller } from './speaking-caller.ts';

export type Given = Omit<RecognizingOptions, 'clock' | 'name'>;

export function call(...given: Given[]) {
  const clock = new FakeClock();
  const services = given.map((options, nth) => {
    const name = String.fromCharCode(97 + nth);
    const service = new RecognizingService({ clock, name, ...options });
    return { service, circuit: new CircuitBreaker({ clock, job: 'stt', service: name }) };
  });
  const permanent: string[] = [];
  const changes: string[] = [];
  /** What the changes say of the faults. */
  const details: string[] = [];
  const stt = createSttFallback({
    services,
    clock,
    log: quietLog().log,
    onPermanentFault: ({ service, kind }) => permanent.push(`${service} ${kind}`),
    onChanged: (change) => {
      changes.push(changeInWords(change));
      details.push(change.fault instanceof ServiceFault ? change.fault.detail : '');
    },
  });
  /** A call on the same services. */
  const again = () => {
    const rig = new RecognizerRig(clock, stt);
    const { hear, silence, says, turn } = new SpeakingCaller(rig);
    return { rig, hear, silence, says, turn };
  };
  return {
    ...again(),

    clock,
    stt,
    permanent,
    changes,
    details,
    again,
    a: services[0] as (typeof services)[0],
    b: services[1] as (typeof services)[0],
    c: services[2] as (typeof services)[0],
  };
}
