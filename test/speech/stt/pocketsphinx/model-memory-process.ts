// A process of its own, as memory that others gave back hides what a model takes: prints as JSON by how many MB the
// process grew with the recogniser opened, and with the first call.

import { openSpeechToText } from '../../../../src/speech/vendors/stt-registry.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

const MODEL_MB_MIN = 60;
const WAIT_MS_MAX = 20_000;
/** What is not taken by then was not taken at the start. */
const SETTLE_MS = 500;

const residentMb = (): number => process.memoryUsage.rss() / 1_048_576;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const ignore = (): void => undefined;

const beforeMb = residentMb();
const means = { clock: systemClock, log: quietLog().log };
const stt = await openSpeechToText({ service: 'pocketsphinx' }, means);
if (stt === undefined) throw new Error('pocketsphinx did not start');
await sleep(SETTLE_MS);
const openedMb = residentMb();
const recognizer = stt.open(
  { closed: true, phrases: ['yes'], slots: [], boost: [] },
  { onPartial: ignore, onFinal: ignore, onDelayed: ignore, onError: ignore },
);
const untilMs = performance.now() + WAIT_MS_MAX;
while (residentMb() - openedMb < MODEL_MB_MIN && performance.now() < untilMs) await sleep(20);
const calledMb = residentMb();
recognizer.close();
await stt.close();
const grown = { openedMb: openedMb - beforeMb, calledMb: calledMb - openedMb };
process.stdout.write(JSON.stringify(grown), () => process.exit(0));
