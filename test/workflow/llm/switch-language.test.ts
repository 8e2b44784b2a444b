// A model that switches the call to another language. Source: contract §8.7.

import { describe, expect, it } from 'vitest';
import { agent, definition, edge, end, start } from '../definitions.ts';
import { ToolConversation } from '../tool-conversation.ts';
import { storedTool } from '../tools/stored-tool.ts';

const tools = [
  storedTool('speak', 'Speak', {
    type: 'switch_language',
    config: {
      languages: [
        { language: 'de' },
        { language: 'pt-BR', message: 'Claro, {{name}}.' },
        { language: 'fr' },
      ],
    },
  }),
];
const content = definition(
  [
    start('talk', { greeting: 'Hello.', tool_uuids: ['speak'] }),
    agent('more', { tool_uuids: ['speak'] }),
    end('done'),
  ],
  [edge('talk', 'more', { label: 'More' })],
);

function talkOf(languages?: readonly string[]): ToolConversation {
  const more = languages === undefined ? {} : { languages };
  const settings = { agent_language: 'en', filler_phrases: ['Bear with me.'] };
  return new ToolConversation(content, undefined, { tools, settings, more });
}

const systemOf = (talk: ToolConversation): string =>
  JSON.stringify(talk.last('generate').messages.find(({ role }) => role === 'system'));

describe('a switch of the language', () => {
  it('has the model speak it from then on, in later steps too', () => {
    const talk = talkOf().calls('', ['speak', { language: 'de' }]);
    expect(talk.results).toEqual({ c0: { status: 'success', language: 'de' } });
    expect(talk.of('log').map(({ body }) => body)).toContainEqual({
      type: 'language.switched',
      language: 'de',
      previous: null,
    });
    expect(systemOf(talk)).toContain('speak German (de) only');
    talk.answer('Gern.').heard().caller('weiter', 0.9).calls('', ['more']);
    expect(talk.node).toBe('more');
    expect(systemOf(talk)).toContain('speak German (de) only');
  });

  it('has the own lines of the engine in that language', () => {
    const talk = talkOf().tell({ type: 'waiting' });
    expect(talk.said).toEqual(['Bear with me.']);
    talk.calls('', ['speak', { language: 'German' }]);
    talk.caller('ja', 0.9).tell({ type: 'waiting' });
    expect(['Einen Moment bitte.', 'Einen Augenblick.', 'Ich sehe kurz nach.']).toContain(
      talk.said[0],
    );
  });

  it('says the message of the language first', () => {
    const talk = talkOf().calls('', ['speak', { language: 'pt' }]);
    expect(talk.said).toEqual(['Claro, Ana.']);
    expect(talk.state.language).toBe('pt-BR');
  });

  it('to a language that the tool does not name is an error that names those it has', () => {
    const talk = talkOf().calls('', ['speak', { language: 'nl' }]);
    expect(talk.results).toEqual({
      c0: {
        status: 'error',
        error:
          'This line does not offer nl. The languages are: de (German), pt-BR (Brazilian Portuguese), fr (French).',
        offered: ['de', 'pt-BR', 'fr'],
      },
    });
    expect(talk.state.language).toBeUndefined();
  });

  it('to a language that the services of the agent lack is the same error', () => {
    const talk = talkOf(['de']).calls('', ['speak', { language: 'fr' }]);
    expect(talk.results).toEqual({
      c0: {
        status: 'error',
        error: 'This line does not offer fr. The languages are: de (German).',
        offered: ['de'],
      },
    });
    talk.calls('', ['speak', { language: 'de' }]);
    expect(talk.state.language).toBe('de');
  });
});
