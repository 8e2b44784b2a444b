// `npm run bench`: runs every section, prints a table and writes bench/results/<date>.json with the machine that it ran on.
// With the names of parts, it runs and prints those alone. Sections are measured in files beside this one.

import { mkdirSync, writeFileSync } from 'node:fs';
import { benchApi } from './api/api.ts';
import { benchAudio } from './audio.ts';
import { benchAnswers } from './calls/answers.ts';
import { benchCalls } from './calls/calls.ts';
import { benchConversation } from './calls/conversation.ts';
import { benchManyCalls } from './calls/many-calls.ts';
import { benchBargeIn, benchRecording } from './calls/turns.ts';
import { machine } from './machine.ts';
import { benchPipeline } from './pipeline.ts';
import { benchBadLines, benchUnexpectedBySource } from './recognition/unexpected-speech.ts';
import { benchRecordings } from './recordings.ts';
import { benchMediaMessages } from './websocket/media-messages.ts';

/** What can be run alone. */
const PARTS = [
  'frames',
  'recordings',
  'turns',
  'unexpected-speech',
  'conversation',
  'api',
  'calls',
] as const;

interface Section {
  part: (typeof PARTS)[number];
  title: string;
  unit: string;
  measure(): Record<string, number> | Promise<Record<string, number>>;
}

/** Enough for figures that repeat within a few percent on a quiet machine. */
const AUDIO_ITERATIONS = 100_000;
const ROUNDS = 4;
/** Simulated, of each call: the most there is, as code that runs for ten calls is compiled late. */
const MANY_CALLS_SECONDS = 50;
/** After all calls have begun. */
const CALL_SECONDS = 30;

const sections: readonly Section[] = [
  {
    part: 'frames',
    title: 'audio: one 20 ms frame (one 32 ms window of the detector)',
    unit: 'us',
    measure: () => benchAudio(AUDIO_ITERATIONS),
  },
  {
    part: 'frames',
    title: 'media messages of each hosted provider: one 20 ms frame',
    unit: 'us',
    measure: () => benchMediaMessages(10 * AUDIO_ITERATIONS),
  },
  {
    part: 'frames',
    title: 'pipeline: one 20 ms frame of one call, services left out',
    unit: '',
    measure: pipelineFigures,
  },
  {
    part: 'frames',
    title: 'one 20 ms frame of one call among few, and among many',
    unit: 'us',
    measure: manyCallsFigures,
  },
  {
    part: 'recordings',
    title: 'recordings of 300 calls on the real disk, both sides speaking',
    unit: '',
    measure: async () => ({ ...(await benchRecordings({ calls: 300, seconds: 10 })) }),
  },
  {
    part: 'turns',
    title: 'interruptions by real voices, with and without noise, in simulated time',
    unit: '',
    measure: benchBargeIn,
  },
  {
    part: 'recordings',
    title: 'recording: the two channels against each other over 60 simulated minutes',
    unit: '',
    measure: benchRecording,
  },
  {
    part: 'turns',
    title:
      'answers to a closed question, with the embedded recogniser and voice, in simulated time',
    unit: '',
    measure: benchAnswers,
  },
  {
    part: 'unexpected-speech',
    title: 'the embedded recogniser: speech that no step expects, by its source',
    unit: '',
    measure: benchUnexpectedBySource,
  },
  {
    part: 'unexpected-speech',
    title: 'the embedded recogniser: people on bad lines',
    unit: '',
    measure: benchBadLines,
  },
  {
    part: 'conversation',
    title: `${ROUNDS} calls in and ${ROUNDS} out with real speech, by their event logs`,
    unit: '',
    measure: () => benchConversation(ROUNDS),
  },
  {
    part: 'api',
    title: 'control API over 16 connections, with 100,000 runs and a campaign of 100,000 contacts',
    unit: '',
    measure: () => benchApi(),
  },
  ...[50, 100, 200, 300].map((calls) => ({
    part: 'calls' as const,
    title: `${calls} calls on one core, as a far end hears them`,
    unit: '',
    measure: () => benchCalls(calls, CALL_SECONDS),
  })),
];

async function pipelineFigures(): Promise<Record<string, number>> {
  const costs = Object.entries(await benchPipeline());
  return Object.fromEntries(
    costs.flatMap(([name, { microseconds, bytes }]) => [
      [`${name} (us)`, microseconds],
      [`${name} (heap bytes)`, bytes],
    ]),
  );
}

async function manyCallsFigures(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const calls of [10, 500]) {
    const cost = await benchManyCalls({ calls, seconds: MANY_CALLS_SECONDS });
    figures[`in, ${calls} calls`] = cost.inMicroseconds;
    figures[`out, ${calls} calls`] = cost.outMicroseconds;
  }
  return figures;
}

interface Result {
  title: string;
  unit: string;
  figures: Record<string, number>;
}

const HELP = `npm run bench [-- PART...]
Measures every section (about ten minutes), prints a table and writes bench/results/<date>.json.
With parts (${PARTS.join(', ')}), it measures those alone and writes no file; "turns" takes seconds.`;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !PARTS.some((part) => part === name));
if (wanted.includes('--help')) console.log(HELP);
else if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}.\n${HELP}`);
  process.exitCode = 2;
} else await main();

async function main(): Promise<void> {
  const results: Result[] = [];
  for (const { part, title, unit, measure } of sections) {
    if (wanted.length > 0 && !wanted.includes(part)) continue;
    const result = { title, unit, figures: await measure() };
    print(result);
    results.push(result);
  }
  if (wanted.length > 0) return;
  const now = new Date();
  const stamp = now.toISOString().slice(0, 19).replaceAll(':', '');
  const file = `bench/results/${stamp}.json`;
  mkdirSync('bench/results', { recursive: true });
  const report = { at: now.toISOString(), machine: machine(), sections: results };
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`Written to ${file}`);
}

function print({ title, unit, figures }: Result): void {
  const width = Math.max(...Object.keys(figures).map((name) => name.length));
  console.log(`\n${title}`);
  for (const [name, figure] of Object.entries(figures)) {
    const digits = Number.isInteger(figure) || figure >= 1_000 ? 0 : figure < 10 ? 3 : 1;
    console.log(`  ${name.padEnd(width)}  ${figure.toFixed(digits).padStart(10)} ${unit}`);
  }
}
