// A recogniser and a voice in a program of their own.

import { expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../src/model/expected-input.ts';
import { sttServices } from '../../src/model/speech-services/services.ts';
import type { SpeechToText } from '../../src/speech/stt/stt.ts';
import { createSttService, openSpeechToText } from '../../src/speech/vendors/stt-registry.ts';
import { systemClock } from '../../src/std/clock.ts';
import { recording } from '../demo/scenario.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { serviceMeans } from '../fakes/services/service-means.ts';
import { heardBy } from '../speech/stt/heard.ts';
import { pushFrames, utter } from '../speech/stt/stt-contract.ts';
import { Peer } from './peer.ts';

const means = { clock: systemClock, log: quietLog().log };
const embedded = await openSpeechToText({ service: 'pocketsphinx' }, means);
await embedded?.close();

it.skipIf(embedded === undefined)(
  'is stopped though it has ended by itself',
  async () => {
    const peer = await Peer.start('wyoming', { phrases: ['yes'], slots: [] });
    process.kill(peer.pid, 'SIGKILL');
    await peer.ended;
    await expect(peer.stop()).resolves.toBeUndefined();
  },
  60_000,
);

/** No deadline: a program on a busy machine takes its time. */
const untimed = serviceMeans(new FakeClock());
const clients: ['vosk' | 'wyoming', (port: number) => SpeechToText][] = [
  [
    'vosk',
    (port) => {
      const row = { provider: 'vosk', base_url: `ws://127.0.0.1:${port}` };
      return createSttService(sttServices.vosk.parse(row), untimed);
    },
  ],
  [
    'wyoming',
    (port) => {
      const row = { provider: 'wyoming', base_url: `tcp://127.0.0.1:${port}` };
      return createSttService(sttServices.wyoming.parse(row), untimed);
    },
  ],
];

it.skipIf(embedded === undefined).each(clients)(
  'gives the last words of a caller who leaves within a sentence, by %s',
  async (name, create) => {
    const phrases = ['book an appointment', 'on wednesday'];
    const peer = await Peer.start(name, { phrases, slots: [] });
    const heard = heardBy();
    const recognizer = create(peer.port).open(OPEN_SPEECH, heard);
    const texts = () => heard.finals.map(({ text }) => text);
    // The program loads its model with the first words.
    utter(recognizer, recording('book-an-appointment'));
    await vi.waitFor(() => expect(texts()).toEqual(phrases.slice(0, 1)), { timeout: 60_000 });
    recognizer.speechStarted();
    pushFrames(recognizer, recording('on-wednesday'));
    await recognizer.finish?.();
    expect([texts(), heard.faults]).toEqual([phrases, []]);
    await peer.stop();
  },
  150_000,
);
