// Recorded clips in conversations. Source: contract §5.3, §5.6, §8.1 and §8.3.

import { describe, expect, it } from 'vitest';
import { clipRefsOf } from '../../../src/workflow/engine/clip-refs.ts';
import { Conversation } from '../conversation.ts';
import { agent as agentNode, definition, edge, start as startNode } from '../definitions.ts';

const CLIPS = [
  { id: '7', name: 'welcome', transcript: 'Welcome to the clinic.' },
  { id: '8', name: 'moment', transcript: 'One moment.' },
];
const find = ({ by, value }: { by: 'id' | 'name'; value: string }) =>
  CLIPS.find((clip) => clip[by] === value);

function agent(start: object, line: object = {}) {
  return definition(
    [startNode('1', { ...start }), agentNode('2', { say: 'And your name?' })],
    [edge('1', '2', { label: 'go', condition: 'always', ...line })],
  );
}

const opened = (
  start: object,
  policy: 'model' | 'scripted' = 'model',
  context: Record<string, unknown> = {},
) => new Conversation(agent(start), policy, { clips: find }).start(context);
const saysOf = (talk: Conversation) =>
  talk.all.filter((action) => action.type === 'say').map(({ text, clipId }) => [text, clipId]);
const faultsOf = (talk: Conversation) =>
  talk.all.flatMap((action) =>
    action.type === 'log' && action.body.type === 'fault' ? [action.body.message] : [],
  );

const AUDIO = { greeting_type: 'audio', greeting_recording_id: '7', greeting: 'Hello there.' };

describe('a greeting', () => {
  it('is the clip of that row, and the model reads what is said in it', () => {
    const talk = opened(AUDIO).heard();
    expect(saysOf(talk)).toEqual([['Welcome to the clinic.', '7']]);
    expect(talk.state.history).toMatchObject([
      { role: 'assistant', text: 'Welcome to the clinic.', heard: true },
    ]);
  });

  it('of a script comes before the question, as an utterance of its own', () => {
    const talk = opened({ ...AUDIO, say: 'How can I help?' }, 'scripted');
    expect(saysOf(talk)).toEqual([
      ['Welcome to the clinic.', '7'],
      ['How can I help?', undefined],
    ]);
  });

  it('may be all that a script says, and the script goes on when it was heard', () => {
    const talk = opened(AUDIO, 'scripted').heard();
    expect(saysOf(talk)).toEqual([
      ['Welcome to the clinic.', '7'],
      ['And your name?', undefined],
    ]);
  });

  it('whose clip is gone is spoken, and the log says why', () => {
    const talk = opened({ ...AUDIO, greeting_recording_id: '99' });
    expect(saysOf(talk)).toEqual([['Hello there.', undefined]]);
    expect(faultsOf(talk)).toEqual([expect.stringContaining("'99'")]);
  });

  it('whose clip is gone and that has no text is left to the model', () => {
    const talk = opened({ greeting_type: 'audio', greeting_recording_id: '99' });
    expect(saysOf(talk)).toEqual([]);
    expect(talk.all.some(({ type }) => type === 'generate')).toBe(true);
  });

  it('gives way to an override by name', () => {
    const override = { type: 'audio', recording_id: 'moment' };
    const talk = opened({ greeting: 'Hello.' }, 'model', { greeting_override: override });
    expect(saysOf(talk)).toEqual([['One moment.', '8']]);
    const text = { type: 'text', text: 'Hi {{name}}.' };
    expect(saysOf(opened(AUDIO, 'model', { greeting_override: text, name: 'Bo' }))).toEqual([
      ['Hi Bo.', undefined],
    ]);
  });

  it.each([
    'welcome',
    { type: 'audio' },
    { type: 'audio', recording_id: 7 },
    { type: 'audio', recording_id: '' },
    { type: 'video', recording_id: 'welcome' },
    { type: 'audio', recording_id: 'foreign' },
  ])('is the author’s where the override is %j', (override) => {
    expect(saysOf(opened(AUDIO, 'model', { greeting_override: override }))).toEqual([
      ['Welcome to the clinic.', '7'],
    ]);
  });
});

describe('the line between two nodes', () => {
  const moved = (line: object) => {
    const talk = new Conversation(agent({ say: 'Hello.' }, line), 'scripted', { clips: find });
    return talk.start().heard();
  };

  it("may be a clip, which cannot be interrupted and is not in the model's context", () => {
    const talk = moved({
      transition_speech_type: 'audio',
      transition_speech_recording_id: 'moment',
      transition_speech: 'Wait.',
    });
    expect(talk.all).toContainEqual(
      expect.objectContaining({
        type: 'say',
        kind: 'transition',
        text: 'One moment.',
        clipId: '8',
        interruptible: false,
      }),
    );
    const remembered = talk.state.history.map((entry) => ('text' in entry ? entry.text : ''));
    expect(remembered).not.toContain('One moment.');
  });

  it('is its text where the clip is gone, or nothing', () => {
    const line = { transition_speech_type: 'audio', transition_speech_recording_id: 'gone' };
    expect(saysOf(moved({ ...line, transition_speech: 'Wait.' }))).toContainEqual([
      'Wait.',
      undefined,
    ]);
    const silent = moved(line);
    expect(saysOf(silent)).toEqual([
      ['Hello.', undefined],
      ['And your name?', undefined],
    ]);
    expect(faultsOf(silent)).toEqual([expect.stringContaining("'gone'")]);
  });

  it('is known to the model, which then says nothing itself', () => {
    const line = { transition_speech_type: 'audio', transition_speech_recording_id: 'moment' };
    const talk = new Conversation(agent({}, line), 'model', { clips: find }).start();
    const asked = talk.all.find((action) => action.type === 'generate');
    expect(asked?.tools[0]?.description).toContain('a fixed line is spoken');
    const without = new Conversation(agent({}, line), 'model').start();
    const other = without.all.find((action) => action.type === 'generate');
    expect(other?.tools[0]?.description).not.toContain('a fixed line is spoken');
  });
});

describe('the clips of a call', () => {
  it('are those that its definition and its context name', () => {
    const line = { transition_speech_type: 'audio', transition_speech_recording_id: 'moment' };
    const context = { greeting_override: { type: 'audio', recording_id: 'mine' } };
    expect(clipRefsOf(agent(AUDIO, line), context)).toEqual([
      { by: 'name', value: 'mine' },
      { by: 'id', value: '7' },
      { by: 'name', value: 'moment' },
    ]);
    expect(clipRefsOf(agent({ ...AUDIO, greeting_type: 'text' }), {})).toEqual([]);
  });

  it('are bounded', () => {
    const line = { transition_speech_type: 'audio', transition_speech_recording_id: 'moment' };
    const whole = agent(AUDIO, line);
    const many = { ...whole, edges: whole.edges.flatMap((each) => Array(2_000).fill(each)) };
    expect(clipRefsOf(many, {}).length).toBeLessThanOrEqual(200);
  });
});
