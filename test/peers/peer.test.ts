// A recogniser and a voice in a program of their own.

import { expect, it } from 'vitest';
import { openSpeechToText } from '../../src/speech/stt/registry.ts';
import { systemClock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
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
