// Words that a model or its content filter refuses. They were in every later request, so that the second question ended
// the call. Source: fixtures/calls/llm-content-filter-poisons-history.json.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Conversation } from '../conversation.ts';
import { definition, start } from '../definitions.ts';
import { ToolConversation } from '../tool-conversation.ts';

const seen = JSON.parse(
  readFileSync(
    new URL('../../../fixtures/calls/llm-content-filter-poisons-history.json', import.meta.url),
    'utf8',
  ),
);
const [FIRST, FILTERED, NEXT]: string[] = seen.chat;
const LINE = "I'm sorry, I can't talk about that. What else can I do for you?";

const begun = () =>
  new Conversation(definition([start('1', { greeting: 'Hello.' })]), 'model').start().heard();

/** The model refuses the last request. */
function refuse<C extends Conversation>(call: C, refused: 'content' | 'request' = 'content'): C {
  const { requestId } = call.last('generate');
  call.tell({ type: 'model-failed', requestId, code: 'LLM_REFUSED', refused });
  return call;
}

const asked = (call: Conversation) => JSON.stringify(call.last('generate').messages);

describe('a refused sentence of the caller', () => {
  it('is no failure, and is in no later request', () => {
    const call = refuse(
      begun()
        .caller(FIRST ?? '')
        .answer('We open at nine.')
        .heard()
        .caller(FILTERED ?? ''),
    );
    expect(call.said).toEqual([LINE]);
    call.heard().caller(NEXT ?? '');
    expect(asked(call)).not.toContain('attempt it again');
    expect(asked(call)).toContain('hello');
    expect(asked(call)).toContain(NEXT);
    expect(call.answer('From nine to five.').state.failures).toBe(0);
  });

  it('may come again and again', () => {
    const call = begun();
    for (let nth = 0; nth < 4; nth++) {
      expect(refuse(call.caller(`${FILTERED} ${nth}`)).said).toEqual([LINE]);
      call.heard();
      expect(call.caller('hello').answer('Yes?').heard().state.refusals).toBeUndefined();
    }
  });

  it('takes all of the history with it if that alone does not help', () => {
    const call = begun().caller('one').answer('two').heard().caller('three');
    refuse(refuse(call).heard().caller('four'));
    call.heard().caller('five');
    expect(asked(call)).not.toMatch(/one|two|three|four/);
    expect(asked(call)).toContain('five');
  });

  it('is not extracted from either', () => {
    const variables = [{ name: 'day', type: 'string' }];
    const data = { greeting: 'Hi.', extraction_enabled: true, extraction_variables: variables };
    const call = new Conversation(definition([start('1', data)]), 'model').start().heard();
    refuse(call.caller(FILTERED ?? ''))
      .heard()
      .ending('user_hangup');
    expect(JSON.stringify(call.last('extract').messages)).not.toContain('attempt it again');
  });
});

describe('a service that refuses a request without a reason of content', () => {
  it('has refused the new words if it has answered before', () => {
    const call = begun()
      .caller('hello')
      .answer('Yes?')
      .heard()
      .caller(FILTERED ?? '');
    expect(refuse(call, 'request').said).toEqual([LINE]);
  });

  it('is wrongly configured if it has not', () => {
    expect(refuse(begun().caller('hello'), 'request').said[0]).toContain('trouble');
  });
});

describe('a model that refuses everything', () => {
  it('fails at last, and the call ends politely', () => {
    const call = begun();
    for (let nth = 0; nth < 4; nth++) refuse(call.caller('hello')).heard();
    expect(refuse(call.caller('hello')).said[0]).toContain('trouble');
    expect(refuse(call.heard().caller('hello')).of('say')).toMatchObject([{ kind: 'goodbye' }]);
  });
});

describe('a refused result of a tool', () => {
  it('is masked, and the model keeps that the tool has worked', () => {
    const call = new ToolConversation().calls('', ['save']).replies(200, { secret: 'attempt' });
    refuse(call).heard().caller('go on');
    expect(call.results['c0']).toMatchObject({ status: 'success' });
    expect(asked(call)).not.toContain('attempt');
  });
});

// Source: fixtures/calls/llm-empty-after-tool.json.
describe('an empty answer after a tool that has worked', () => {
  const done = () => new ToolConversation().calls('', ['save']).replies(200, { booked: true });
  const Anything = 'Is there anything else I can do for you?';

  it.each(['LLM_EMPTY', 'LLM_FAILED'])('asks the caller to repeat nothing: %s', (code) => {
    const call = done();
    const { requestId } = call.last('generate');
    expect(call.tell({ type: 'model-failed', requestId, code }).said).toEqual([Anything]);
    expect(call.state.failures).toBe(code === 'LLM_EMPTY' ? 0 : 1);
  });

  it('does so too where the answer is blank', () => {
    expect(done().answer('').said).toEqual([Anything]);
  });

  it('is a failure after a tool that has not', () => {
    const call = new ToolConversation().calls('', ['save']).noReply('It did not answer.');
    const { requestId } = call.last('generate');
    call.tell({ type: 'model-failed', requestId, code: 'LLM_EMPTY' });
    expect(call.said[0]).toContain('trouble');
  });

  it('is one again once the caller has spoken', () => {
    const call = done().answer('Booked.').heard().caller('thanks').answer('');
    expect(call.said).toEqual(['Sorry, could you say that again, please?']);
  });
});
