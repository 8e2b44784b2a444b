// The speech services of a process whose embedded ones are fakes.

import { createEgress } from '../../src/egress/egress-rule.ts';
import { LanguageModels } from '../../src/speech/language-models.ts';
import { WarmConnections } from '../../src/speech/service/warm-connections.ts';
import { SpeechServices } from '../../src/speech/speech-services.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { FakeStt, FakeTts } from '../fakes/speech-services.ts';

export function openedServices({ withoutStt = false } = {}) {
  const clock = new FakeClock();
  const { log } = quietLog();
  const egress = createEgress();
  const means = { clock, log, egress, warm: new WarmConnections({ clock, egress }) };
  const stt = new FakeStt(clock);
  const tts = new FakeTts(clock);
  const models = new LanguageModels(undefined, means);
  const services = new SpeechServices({
    gateway: { stt: withoutStt ? undefined : stt, tts, voice: 'slt' },

    models,
    means,
  });
  return { services, clock, stt, tts };
}
