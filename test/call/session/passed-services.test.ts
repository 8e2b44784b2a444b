// A call that begins while its services rest, as they failed in other calls a moment ago: it has the next ones from the first
// word on, and an operator who looked at its run saw other services than configured, and no reason. What the next ones did
// stood in the usage of those that had done nothing.

import { expect, it } from 'vitest';
import { FallbackModel } from '../../../src/speech/llm/fallback.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { ServiceChange } from '../../../src/speech/service/service-reports.ts';
import { CallReports } from '../../../src/speech/speech-services.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { RecognizingService } from '../../fakes/services/recognizing-service.ts';
import { StreamedTts } from '../../fakes/services/streamed-tts.ts';
import { FakeTts } from '../../fakes/speech-services.ts';
import { chat, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallHarness();

it('a call that begins with the next services says of each why, once, and counts what those did', async () => {
  const { harness } = held;
  const { clock, speech } = harness;
  const entry = <Service extends { name: string }>(service: Service, isResting: boolean) => {
    const { name } = service;
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: name });
    const fault = new ServiceFault('stt', name, 'overload', { detail: 'busy' });
    for (let nth = 0; nth < 3 && isResting; nth++) circuit.failed(fault);
    return { service, circuit };
  };
  const modelOf = (name: string, isResting: boolean) => {
    const model = Object.assign(new ScriptedModel(clock), { name });
    return { model, circuit: entry(model, isResting).circuit };
  };
  const models = [modelOf('llm-a', true), modelOf('llm-b', false)];
  const reports = new CallReports<ServiceChange>();
  Object.defineProperty(speech, 'onServiceChanged', {
    set: (listener) => {
      reports.listener = listener;
    },
  });
  const means = { clock, log: quietLog().log, onChanged: reports.report };
  speech.stt = createSttFallback({
    services: [
      entry(new RecognizingService({ clock, name: 'stt-a' }), true),
      entry(harness.stt, false),
    ],
    ...means,
  });
  speech.tts = createTtsFallback({
    services: [
      entry(new StreamedTts({ clock, name: 'tts-a' }), true),
      entry(new FakeTts(clock), false),
    ],
    ...means,
  });
  speech.llm = new FallbackModel({ services: models, ...means });
  await harness.prepare(chat);
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  for (const words of ['opening hours', 'and on Sunday']) {
    await harness.says(stream, words);
    await harness.heardOut(stream);
  }
  // The services have rested: another call would have them, and a model that this call has not asked is asked.
  await harness.pass(15_000);
  stream.hangUp();
  await harness.ended(run);
  const changes = (await harness.bodies(run, 'fault')).map(({ change }) => change);
  expect(
    changes.map((each) => `${each?.job} ${each?.kind}: ${each?.from} to ${each?.to}`).sort(),
  ).toEqual([
    'llm overload: llm-a to llm-b',
    'stt overload: stt-a to fake',
    'tts overload: tts-a to fake',
  ]);
  const of = async (type: 'recognition.usage' | 'speech.usage' | 'model.usage') => [
    ...new Set((await harness.bodies(run, type)).map(({ service }) => service)),
  ];
  expect(await of('recognition.usage')).toEqual(['fake']);
  expect(await of('speech.usage')).toEqual(['fake']);
  expect(await of('model.usage')).toEqual(['llm-b', 'llm-a']);
});
