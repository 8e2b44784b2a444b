import { expect, it } from 'vitest';
import { sttServices, ttsServices } from '../../../src/model/speech-services/services.ts';
import { createSttService } from '../../../src/speech/vendors/stt-registry.ts';
import { createTtsService } from '../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';

it("says when OpenAI's models for speech end, and of no other server's", () => {
  const { log, lines } = quietLog();
  const means = { ...serviceMeans(new FakeClock()), log };
  const account = { provider: 'openai', api_key: 'k' } as const;
  createSttService(sttServices.openai.parse({ ...account, model: 'whisper-1' }), means);
  createTtsService(ttsServices.openai.parse(account), means);
  createSttService(sttServices.groq.parse({ ...account, provider: 'groq' }), means);
  createTtsService(
    ttsServices.openai_compatible.parse({
      provider: 'openai_compatible',
      base_url: 'https://a.example',

      model: 'tts-1',
      voice: 'v',
    }),
    means,
  );
  expect(lines().map(({ model, endsOn }) => [model, endsOn])).toEqual([
    ['whisper-1', '2027-02-26'],
    ['gpt-4o-mini-tts', '2027-01-06'],
  ]);
});

it('warns of any service whose model has ended', () => {
  const { log, lines } = quietLog();
  const means = { ...serviceMeans(new FakeClock(Date.parse('2026-11-28'))), log };
  const cartesia = { provider: 'cartesia', api_key: 'k', model: 'sonic-english' } as const;
  createTtsService(ttsServices.cartesia.parse(cartesia), means);
  expect(lines()).toMatchObject([
    { msg: 'the service has retired this model', model: 'sonic-english', successor: 'sonic-3.5' },
  ]);
});
