// The demonstration agents, walked through without a language model.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type WorkflowDefinition, workflowDefinition } from '../../../src/model/workflow.ts';
import { stripUnknownData } from '../../../src/workflow/graph/node-data.ts';
import { requiredTemplateVariables } from '../../../src/workflow/graph/required-variables.ts';
import { validateDefinition } from '../../../src/workflow/graph/validate.ts';
import { Conversation } from '../conversation.ts';

function fixture(name: string): WorkflowDefinition {
  const text = readFileSync(`fixtures/workflows/${name}.json`, 'utf8');
  return workflowDefinition.parse(JSON.parse(text));
}

const dental = fixture('dental-reception');
const reminder = fixture('appointment-reminder');

describe.each([
  ['dental reception', dental],
  ['appointment reminder', reminder],
])('%s', (_name, definition) => {
  it('is valid under either policy and can be started without any variable', () => {
    expect(validateDefinition(definition, { full: true, policy: 'scripted' })).toEqual([]);
    expect(requiredTemplateVariables(definition)).toEqual([]);
    expect(stripUnknownData(definition)).toEqual(definition);
  });
});

describe('dental reception without a model', () => {
  it('books by voice, reading the number back', () => {
    const call = new Conversation(dental, 'scripted').start({ clinic_name: 'Hill Dental' });
    expect(call.said).toEqual([
      'Welcome to Hill Dental. Would you like to book an appointment, or cancel an appointment?',
    ]);
    expect(call.last('expect').expectation).toMatchObject({
      closed: true,
      phrases: [
        'book an appointment',
        'make an appointment',
        'new appointment',
        'cancel an appointment',
        'cancel my appointment',
        'repeat that',
        'help',
        'goodbye',
      ],
      slots: [],
      boost: [],
      digits: { countMax: 1, terminator: null },
    });
    call.heard().caller('book an appointment', 0.9);
    expect(call.said).toEqual([
      'On which day of the week would you like to come? Monday to Friday.',
    ]);
    expect(call.last('expect').expectation.phrases).toContain('on thursday');
    call.heard().caller('thursday', 0.8);
    expect(call.said).toEqual(['Would you prefer thursday in the morning, or in the afternoon?']);
    call.heard().caller('in the afternoon', 0.8);
    expect(call.last('expect').expectation.digits).toEqual({ countMax: 5, terminator: '#' });
    call.heard().caller('five five five one two', 0.7);
    expect(call.said).toEqual(['I understood 5 5 5 1 2. Is that right?']);
    expect(call.last('expect').expectation.slots).toEqual(['yes_no']);
    call.heard().caller('yes please', 0.9);
    expect(call.said).toEqual(['That is thursday, in the afternoon. Shall I book it?']);
    call.heard().caller('yes please', 0.9);
    expect(call.said).toEqual([
      'Thank you. We will send you a message with the exact time. Goodbye.',
    ]);
    expect(call.heard().last('end').reason).toBe('user_qualified');
    const summary = call.engine.summarize(call.state);
    expect(summary.extractedVariables).toEqual({
      weekday: 'thursday',
      part_of_day: 'afternoon',
      patient_number: '55512',
      call_disposition: 'booked',
    });
    expect(summary.disposition).toBe('booked');
    expect(summary.nodesVisited).toEqual([
      'Welcome',
      'Choose weekday',
      'Choose time',
      'Ask patient number',
      'Confirm booking',
      'Booked',
    ]);
    expect(summary.details['patient_number']).toEqual({
      source: 'speech',
      confidence: 0.7,
      turn: 4,
      reason: null,
    });
  });

  it('books by keys alone', () => {
    const call = new Conversation(dental, 'scripted').start().heard().keys('1').heard();
    call.keys('1').heard().keys('1').heard().keys('55512#');
    expect(call.said).toEqual(['I understood 5 5 5 1 2. Is that right?']);
    call.heard().keys('1').heard().keys('1').heard();
    expect(call.last('end').reason).toBe('user_qualified');
    expect(call.gathered).toEqual({
      weekday: 'monday',
      part_of_day: 'morning',
      patient_number: '55512',
      call_disposition: 'booked',
    });
  });

  it('takes a new patient without a number, and another day at the end', () => {
    const call = new Conversation(dental, 'scripted')
      .start()
      .heard()
      .caller('Book an appointment!');
    call.heard().caller('Monday.').heard().caller('Morning.').heard().caller('new patient');
    expect(call.node).toBe('check');
    call.heard().caller('another day').heard().caller('Friday').heard().caller('afternoon');
    expect(call.node).toBe('number');
    expect(call.gathered).toMatchObject({ weekday: 'friday', part_of_day: 'afternoon' });
  });

  it('does not take a day on which the practice is closed', () => {
    const call = new Conversation(dental, 'scripted').start().heard().keys('1').heard();
    expect(call.caller('sunday').node).toBe('weekday');
    expect(call.of('say')).toMatchObject([{ kind: 'reprompt' }]);
  });

  it('notes what a caller who hangs up did not say', () => {
    const call = new Conversation(dental, 'scripted')
      .start()
      .heard()
      .keys('1')
      .ending('user_hangup');
    expect(call.last('end').reason).toBe('user_hangup');
    expect(call.gathered).toEqual({});
    expect(call.engine.summarize(call.state).details).toEqual({
      weekday: { source: null, confidence: null, turn: null, reason: 'not_extracted' },
    });
  });
});

describe('appointment reminder without a model', () => {
  it('takes a yes in any form', () => {
    const call = new Conversation(reminder, 'scripted').start({ appointment: 'Monday at ten' });
    expect(call.said[0]).toContain('your appointment on Monday at ten');
    call.heard().caller('Yeah, sure.');
    expect(call.node).toBe('coming');
    expect(call.heard().last('end').reason).toBe('user_qualified');
    expect(call.gathered).toEqual({ coming: 'yes' });
  });

  it('asks for the reason of a no', () => {
    const call = new Conversation(reminder, 'scripted')
      .start()
      .heard()
      .caller('No, thank you.', 0.9);
    expect(call.said).toEqual([
      'I am sorry to hear that. Are you travelling, not feeling well, or would you like another day?',
    ]);
    call.heard().caller('I am not feeling well', 0.6);
    expect(call.gathered).toEqual({ coming: 'no', reason: 'not feeling well' });
    expect(call.node).toBe('declined');
  });

  it('goes the other way after three answers that it does not understand', () => {
    const call = new Conversation(reminder, 'scripted').start().heard().keys('2').heard();
    expect(call.caller('my cat is ill').said).toEqual([
      'Sorry. Please say, travelling, not feeling well, or, another day.',
    ]);
    expect(call.heard().caller('the cat').said[0]).toContain('For travelling, press 1.');
    call.caller('cat!');
    expect(call.node).toBe('declined');
    expect(call.engine.summarize(call.state).details['reason']?.reason).toBe('not_extracted');
  });
});
