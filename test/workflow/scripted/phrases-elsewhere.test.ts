// A caller who says what another step expects: a closed grammar made a phrase of the current step of it.

import { describe, expect, it } from 'vitest';
import { Conversation } from '../conversation.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';

const practice = definition(
  [
    start('ask', { say: 'What can I do for you?' }),
    agent('bill', {
      say: 'Which bill?',
      slots: [{ name: 'kind', choices: ['the last one', 'an older one'] }],
    }),
    agent('when', { say: 'When?' }),
    end('done', { say: 'Goodbye.' }),
  ],
  [
    edge('ask', 'when', { label: 'Book', phrases: ['appointment', 'yes'] }),
    edge('ask', 'bill', { label: 'Bill', phrases: ['talk about my bill'] }),
    edge('when', 'done', { label: 'Done', phrases: ['cancel an appointment', 'no', 'cancel'] }),
    edge('when', 'ask', { label: 'Back to the first question' }),
    edge('bill', 'done', { label: 'Done', phrases: ['talk about my bill', 'goodbye'] }),
  ],
);

const begun = () => new Conversation(practice, 'scripted').start().heard();

describe('what another step expects', () => {
  it('is given to the recogniser, without what this step expects itself, yes and no, and single words', () => {
    const { expectation } = begun().last('expect');
    expect(expectation.elsewhere).toEqual([
      'the last one',
      'an older one',
      'cancel an appointment',
    ]);
    expect(expectation.phrases).toContain('appointment');
  });

  it('is given to it with a model too', () => {
    const talk = new Conversation(practice, 'model').start();
    expect(talk.last('expect').expectation.elsewhere).toContain('cancel an appointment');
  });

  it('is asked about where it has a phrase of this step in it', () => {
    const talk = begun().caller('cancel an appointment', 0.9);
    expect(talk.said).toEqual(['I understood appointment. Is that right?']);
    expect(talk.node).toBe('ask');
  });

  it('is asked for again where it has none', () => {
    const talk = begun().caller('the last one', 0.9);
    expect(talk.node).toBe('ask');
    expect(talk.said[0]).toMatch(/^Sorry, I didn't understand that/);
  });

  it('changes nothing for the phrases of this step, alone or within a sentence', () => {
    expect(begun().caller('talk about my bill', 0.9).node).toBe('bill');
    expect(begun().caller('I need an appointment soon', 0.9).node).toBe('when');
  });

  it('is limited, in a large agent', () => {
    const nodes = Array.from({ length: 60 }, (_, nth) => agent(`n${nth}`, { say: 'Yes?' }));
    const edges = nodes.map((_node, nth) =>
      edge(`n${nth}`, 'done', { label: `L${nth}`, phrases: [`phrase ${nth}`] }),
    );
    const large = definition(
      [start('ask', { say: 'Hello?' }), ...nodes, end('done', { say: 'Bye.' })],
      [edge('ask', 'n0', { label: 'Go', phrases: ['go'] }), ...edges],
    );
    const talk = new Conversation(large, 'scripted').start();
    expect(talk.last('expect').expectation.elsewhere).toHaveLength(40);
  });
});
