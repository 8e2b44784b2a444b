// "Yes" and "right" said while the agent speaks: after a statement of an agent led by a language model a sound of a
// listener, after a question an answer. A scripted agent that expects "yes" takes it as an answer.

import { describe, expect, it } from 'vitest';
import { type ExpectedInput, OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { tablesOf } from '../../../src/model/languages/languages.ts';
import { CallRig, type RigOptions } from '../call-rig.ts';

/** What an agent led by a language model expects, as llm-policy.ts has it. */
const BY_MODEL: ExpectedInput = { ...OPEN_SPEECH, phrases: ['goodbye'], slots: ['yes_no'] };
const SCRIPTED: ExpectedInput = { ...BY_MODEL, closed: true };

const STATEMENT =
  'Your appointment with Doctor Miller has been moved to Tuesday at ten o’clock in the morning. ' +
  'The clinic is in Main Street now, opposite the old town hall, on the second floor.';
const QUESTION = 'Shall I book the appointment on Tuesday for you?';

interface Said extends RigOptions {
  /** The agent's words. */
  over?: string;
  atMs?: number;
  expectation?: ExpectedInput;
  interruptible?: boolean;
  /** Length of the caller's sound. */
  ms?: number;
}

/** The caller says `text` from this time of the agent's words on. */
async function said(text: string, how: Said = {}): Promise<CallRig> {
  const { over = STATEMENT, atMs = 3_000, interruptible = true, ms = 400 } = how;
  const rig = new CallRig(how);
  rig.audio.expect(how.expectation ?? BY_MODEL);
  rig.say(over, { interruptible });
  await rig.run(atMs);
  await rig.says(text, ms);
  await rig.run(16_000);
  return rig;
}

/** The agent went on to the end of its words. */
function wentOn(rig: CallRig, over = STATEMENT): void {
  expect(rig.of('interruption')).toEqual([]);
  expect(rig.reports).toMatchObject([{ heardText: over, interrupted: false }]);
}

describe('to a statement of an agent led by a model', () => {
  it.each([
    'Yes.',
    'right',
    'yes, yes',
    'That’s right.',
    'Yes, exactly.',
    'okay yes',
    'yes I see',
    'true',
  ])('"%s" is a sound of a listener', async (text) => {
    const rig = await said(text);
    wentOn(rig);
    expect(rig.turns).toEqual([]);
    expect(rig.of('backchannel').map((event) => event.text)).toEqual([text]);
  });

  it.each(
    [...tablesOf('phrases')].flatMap(([tag, { agreements }]) =>
      [tag, `${tag}?`].map((each) => [each, agreements[0] ?? ''] as const),
    ),
  )('so is the first agreement of the language %s: %s', async (tag, text) => {
    const isKnown = !tag.endsWith('?');
    const rig = await said(text, isKnown ? { languages: { language: tag } } : {});
    wentOn(rig);
    expect(rig.turns).toEqual([]);
  });

  it('a long "yes" is one too', async () => {
    const rig = await said('yes', { ms: 1_700 });
    wentOn(rig);
    expect(rig.turns).toEqual([]);
  });

  it.each([
    'yes please',
    'yes I want to change it',
    'yes but not on Tuesday',
    'right now',
    'no',
    'No, that’s wrong.',
    'no no',
  ])('"%s" stops the agent', async (text) => {
    const rig = await said(text, { ms: 800 });
    expect(rig.turns).toEqual([text]);
    expect(rig.reports).toMatchObject([{ interrupted: true }]);
  });

  it('"yes" stops the agent once words follow it', async () => {
    const rig = new CallRig();
    rig.audio.expect(BY_MODEL);
    rig.say(STATEMENT);
    await rig.run(3_000);
    rig.line = 'voice';
    await rig.run(300);
    rig.stt.understand('yes');
    await rig.run(300);
    expect(rig.of('interruption')).toEqual([]);
    rig.stt.understand('yes I would like');
    await rig.run(60);
    expect(rig.of('interruption').length).toBe(1);
  });

  it('"yes" at its end answers it', async () => {
    const over = 'I am calling for Mister Smith.';
    const rig = await said('yes', { over, atMs: 1_100 });
    expect(rig.turns).toEqual(['yes']);
  });
});

describe('to a question of an agent led by a model', () => {
  it.each(['yes', 'right', 'yeah', 'Yes, that’s right.', 'absolutely', 'of course', 'sure'])(
    '"%s" is an answer at once, though a statement follows',
    async (text) => {
      const over = `${QUESTION} ${STATEMENT}`;
      const rig = await said(text, { over, atMs: 3_000 });
      expect(rig.turns).toEqual([text]);
      expect(rig.of('interruption').length).toBe(1);
    },
  );

  it.each(
    [...tablesOf('phrases')].map(([tag, { agreements }]) => [tag, agreements[0] ?? ''] as const),
  )('so is the first agreement of the language %s: %s', async (language, text) => {
    const over = `${QUESTION} ${STATEMENT}`;
    const languages = { language, wordsLanguage: language };
    const rig = await said(text, { over, languages });
    expect(rig.turns).toEqual([text]);
  });

  it.each(['？', '؟'])('behind another mark of a question: %s', async (mark) => {
    const rig = await said('yes', { over: `${QUESTION.replace('?', mark)} ${STATEMENT}` });
    expect(rig.turns).toEqual(['yes']);
  });

  it('that the caller answers within its last word', async () => {
    const over = `${QUESTION} ${STATEMENT}`;
    const rig = await said('yes', { over, atMs: 2_150 });
    expect(rig.turns).toEqual(['yes']);
  });

  it('that ends its words is heard out', async () => {
    const rig = await said('yes', { over: QUESTION, atMs: 2_200 });
    wentOn(rig, QUESTION);
    expect(rig.turns).toEqual(['yes']);
  });

  it.each(['mhm', 'uh'])('"%s" is still a sound of a listener', async (text) => {
    const over = `${QUESTION} ${STATEMENT}`;
    const rig = await said(text, { over });
    wentOn(rig, over);
    expect(rig.turns).toEqual([]);
  });

  it('that comes later in the same words, "yes" is none', async () => {
    const over = `${STATEMENT} ${QUESTION}`;
    const rig = await said('yes', { over });
    wentOn(rig, over);
    expect(rig.turns).toEqual([]);
  });

  it('"yes" long after it lets the agent finish, and is answered then', async () => {
    const over = `${QUESTION} ${STATEMENT}`;
    const rig = await said('yes', { over, atMs: 9_000 });
    wentOn(rig, over);
    expect(rig.turns).toEqual(['yes']);
    expect(rig.of('turn')[0]?.atMs).toBeGreaterThan(rig.tts.durationMs(over) - 100);
    expect(rig.of('backchannel')).toEqual([]);
  });

  it.each([
    ['in the same words', (rig: CallRig) => rig.say(`How are you today? ${STATEMENT} ${QUESTION}`)],
    [
      'in the next ones',
      (rig: CallRig) => {
        rig.say(`How are you today? ${STATEMENT}`);
        rig.say(QUESTION);
      },
    ],
  ])('"yes" long after it does not answer another one %s', async (_where, say) => {
    const rig = new CallRig();
    rig.audio.expect(BY_MODEL);
    say(rig);
    await rig.run(7_000);
    await rig.says('yes', 400);
    await rig.run(16_000);
    expect(rig.turns).toEqual([]);
    expect(rig.of('backchannel').map(({ text }) => text)).toEqual(['yes']);
  });
});

describe('over speech of a model that cannot be interrupted', () => {
  it('"yes" to a statement is a sound of a listener', async () => {
    const rig = await said('yes', { interruptible: false });
    expect(rig.turns).toEqual([]);
    expect(rig.of('backchannel')).toMatchObject([{ text: 'yes', isMuted: true }]);
  });

  it('"yes" to a question is answered when the agent has finished', async () => {
    const over = `${QUESTION} ${STATEMENT}`;
    const rig = await said('yes', { over, interruptible: false });
    expect(rig.turns).toEqual(['yes']);
    expect(rig.reports).toMatchObject([{ heardText: over, interrupted: false }]);
  });

  it('"yes" at the end of a statement answers it', async () => {
    const over = 'Hello, this is the clinic, I am calling for Mister Smith.';
    const rig = await said('yes', { over, interruptible: false, atMs: 2_700, ms: 200 });
    expect(rig.turns).toEqual(['yes']);
  });
});

describe('to a scripted agent', () => {
  it.each([
    ['that expects it', SCRIPTED],
    ['that expects something else', { ...SCRIPTED, slots: [] }],
  ])('%s, "yes" is an answer without a question', async (_which, expectation) => {
    const rig = await said('yes', { expectation });
    expect(rig.turns).toEqual(['yes']);
    expect(rig.of('interruption').length).toBe(1);
  });

  it('"yeah" answers whatever it has asked before', async () => {
    const over = `${QUESTION} ${STATEMENT}`;
    const rig = await said('yeah', { over, atMs: 7_000, expectation: SCRIPTED });
    expect(rig.turns).toEqual(['yeah']);
    expect(rig.of('interruption').length).toBe(1);
  });
});
