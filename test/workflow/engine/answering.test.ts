// An outbound call that no person has answered: message, screening, menu, queue, and a person who takes the call.

import { describe, expect, it } from 'vitest';
import { answerHandlingOf } from '../../../src/model/answer-handling.ts';
import { Conversation } from '../conversation.ts';
import { definition, edge, end, start } from '../definitions.ts';

const agent = definition(
  [
    start('talk', { name: 'Talk', greeting: 'Hello, this is the clinic.' }),
    end('bye', { name: 'Bye' }),
  ],
  [edge('talk', 'bye', { label: 'Finish' })],
);
const MESSAGE = 'Please call the clinic back.';
const WHO = 'The clinic, about your appointment.';

function call(settings: Record<string, unknown> = {}): Conversation {
  const answerHandling = answerHandlingOf({
    enabled: true,
    voicemail_action: 'leave_message',
    voicemail_message: { text: MESSAGE },
    screening_message: { text: WHO },
    menu_action: 'navigate',
    menu_steps: ['0', 'operator'],
    ...settings,
  });
  return new Conversation(agent, 'model', { answerHandling }).start();
}

const verdict = (who: 'voicemail' | 'screening' | 'menu' | 'hold' | 'person', isReady = false) =>
  ({ type: 'answered', who, by: 'words', isReady }) as const;
const beep = { type: 'answered', who: 'voicemail', by: 'beep', isReady: true } as const;

/** The last wait of the engine is over. */
function waited(conversation: Conversation): Conversation {
  return conversation.tell({ type: 'waited', waitId: conversation.last('wait').waitId });
}

describe('a call that a voicemail has answered', () => {
  it('falls silent, and leaves the message after the beep', () => {
    const answered = call().tell(verdict('voicemail'));
    expect(answered.types).toContain('hush');
    expect(answered.said).toEqual([]);
    expect(answered.caller('I am not at home.').said).toEqual([]);
    expect(answered.tell(beep).said).toEqual([MESSAGE]);
    expect(answered.last('say')).toMatchObject({ kind: 'voicemail-message', interruptible: false });
    expect(answered.heard().last('end').reason).toBe('voicemail_detected');
  });

  it('says the message again, once, if the beep comes after its begin', () => {
    const early = call().tell({ ...verdict('voicemail', true), by: 'silence' });
    expect(early.said).toEqual([MESSAGE]);
    expect(early.tell(beep).said).toEqual([MESSAGE]);
    expect(early.tell(beep).said).toEqual([]);
    expect(early.heard().last('end').reason).toBe('voicemail_detected');
  });

  it('leaves the message a minute later at the latest', () => {
    expect(waited(call().tell(verdict('voicemail'))).said).toEqual([MESSAGE]);
  });

  it('ends at once where no message is wanted', () => {
    const hangup = call({ voicemail_action: 'hangup' }).tell(verdict('voicemail'));
    expect(hangup.last('end').reason).toBe('voicemail_detected');
    const empty = call({ voicemail_message: { text: ' ' } }).tell(verdict('voicemail'));
    expect(empty.last('end').reason).toBe('voicemail_detected');
  });

  it('goes on as with a person where the setting is off', () => {
    const talks = new Conversation(agent, 'model').start().tell(verdict('voicemail', true));
    expect(talks.actions).toEqual([]);
    expect(talks.heard().caller('Hello?').types).toContain('generate');
  });
});

describe('a call that a screening has answered', () => {
  it('says who calls once the prompt is over, and greets the person who takes it', () => {
    const screened = call().tell(verdict('screening'));
    expect(screened.said).toEqual([]);
    expect(screened.tell(verdict('screening', true)).said).toEqual([WHO]);
    screened.heard();
    expect(screened.tell(verdict('person')).said).toEqual(['Hello, this is the clinic.']);
    // The greeting that the verdict rests on comes after it.
    expect(screened.caller('Hello?').actions).toEqual([]);
    expect(screened.heard().caller('Who is this?').types).toContain('generate');
  });

  it('says it twice at most, and waits for a limited time', () => {
    const twice = call().tell(verdict('screening', true)).tell(verdict('screening', true));
    expect(twice.said).toEqual([WHO]);
    expect(twice.tell(verdict('screening', true)).last('end').reason).toBe('screening_limit');
    const late = waited(call().tell(verdict('screening', true)).heard());
    expect(late.last('end').reason).toBe('screening_timeout');
    const none = call({ screening_message: {} }).tell(verdict('screening', true));
    expect(none.last('end').reason).toBe('screening_message_missing');
  });
});

describe('a call that a menu or a queue has answered', () => {
  it('presses the key of each menu, or says its word', () => {
    const navigates = call().tell(verdict('menu')).tell(verdict('menu', true));
    expect(navigates.last('press').digits).toBe('0');
    expect(navigates.tell(verdict('menu', true)).said).toEqual(['operator']);
    expect(navigates.tell(verdict('menu', true)).actions).toEqual([]);
    expect(waited(navigates).last('end').reason).toBe('ivr_detected');
    expect(call({ menu_action: 'hangup' }).tell(verdict('menu')).last('end').reason).toBe(
      'ivr_detected',
    );
  });

  it('waits in silence until somebody speaks', () => {
    const waits = call().heard().tell(verdict('hold', true));
    expect(waits.types).toEqual(['hush', 'wait']);
    expect(waits.idle().actions).toEqual([]);
    expect(waits.tell({ type: 'waiting' }).actions).toEqual([]);
    expect(waits.tell(verdict('person')).said).toEqual(['Hello, this is the clinic.']);
    expect(waited(call().tell(verdict('hold', true))).last('end').reason).toBe('hold_timeout');
  });

  it('waits on in another process', () => {
    const waits = call().heard().tell(verdict('hold', true)).tell({ type: 'resumed' });
    expect(waits.said).toEqual([]);
    expect(waited(waits).last('end').reason).toBe('hold_timeout');
  });
});
