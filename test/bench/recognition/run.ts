// `npx tsx test/bench/recognition/run.ts [STRIDE] [FILE]`: prints the shares by kind of grammar, for every STRIDE-th
// utterance (1: all, about ten minutes), and writes the single outcomes to FILE.

import { writeFileSync } from 'node:fs';
import { CASES } from './cases.ts';
import { measureRecognition, type Outcome, type Said, sharesOf } from './recognition.ts';

const SAID: readonly Said[] = ['answer', 'elsewhere', 'other node', 'backchannel', 'foreign'];
const [stride = '1', file] = process.argv.slice(2);
const outcomes = await measureRecognition({
  stride: Number(stride),
  speakers: () => true,
  said: SAID,
});
if (file !== undefined) writeFileSync(file, JSON.stringify(outcomes));

const answers = outcomes.filter(({ said }) => said === 'answer');
const unexpected = outcomes.filter(({ said }) => said !== 'answer');
row(
  'answers, by Flite',
  answers.filter(({ speaker }) => speaker.engine === 'flite'),
);
row(
  'held out',
  answers.filter(({ speaker }) => speaker.engine === 'flite' && speaker.isHeldOut),
);
row(
  'answers, by eSpeak',
  answers.filter(({ speaker }) => speaker.engine === 'espeak'),
);
for (const { kind } of CASES) {
  row(
    `${kind}, by Flite`,
    answers.filter((each) => each.kind === kind && each.speaker.engine === 'flite'),
  );
  row(
    `${kind}, unexpected`,
    unexpected.filter((each) => each.kind === kind),
  );
}
for (const said of SAID.slice(1))
  row(
    `unexpected: ${said}`,
    unexpected.filter((each) => each.said === said),
  );
row('unexpected, all', unexpected);

function row(name: string, of: readonly Outcome[]): void {
  const { count, accepted, asked, wrong } = sharesOf(of);
  const rejected = 1 - accepted - asked - wrong;
  const percent = [accepted, asked, wrong, rejected].map((share) => (100 * share).toFixed(1));
  console.log(`| ${name} | ${count} | ${percent.join(' | ')} |`);
}
