// Whole calls of the demonstration agent with a stand-in for the language model: it reads what it is
// sent (prompt, history, functions) and answers like a model that speaks and moves in one response.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { workflowDefinition } from '../../../src/model/workflow.ts';
import { Conversation } from '../conversation.ts';

const dental = workflowDefinition.parse(
  JSON.parse(readFileSync('fixtures/workflows/dental-reception.json', 'utf8')),
);

/** What the caller says: [the words, the function that they call for, what the model says with it]. */
const STORY: [string, string | undefined, string][] = [
  ['Hello, I need an appointment.', 'book_appointment', 'Gladly. Which day suits you?'],
  ['What days are there?', undefined, 'Monday to Friday. Which day suits you?'],
  ['Thursday.', 'thursday', 'Thursday.'],
  ['The afternoon.', 'afternoon', ''],
  ['I am new.', 'new_patient', 'Thursday afternoon, shall I book it?'],
  ['Yes please.', 'confirm', 'It is booked. Goodbye!'],
];

/** Tells the fake model's answer to every request until it waits for the caller. */
function respond(call: Conversation, [words, wanted, text]: (typeof STORY)[number]): void {
  const request = call.last('generate');
  expect(request.messages[0]?.content).toContain('You are the receptionist of Hill Dental');
  expect(request.messages.at(-1)).toEqual({ role: 'user', content: words });
  const offered = request.tools.map(({ name }) => name);
  if (wanted !== undefined) expect(offered).toContain(wanted);
  call.answer(text, ...(wanted === undefined ? [] : [wanted]));
  while (call.of('generate').length > 0) {
    expect(call.last('generate').messages.at(-1)?.role).not.toBe('user');
    call.answer('And the next question?');
  }
}

describe('the dental reception with a model', () => {
  it('is walked through in one response a turn, two where the model made a statement', () => {
    const call = new Conversation(dental, 'model').start({ clinic_name: 'Hill Dental' }).heard();
    for (const turn of STORY) {
      call.heard().caller(turn[0]);
      respond(call, turn);
    }
    // Six turns; "Thursday." and the silent move to the next node need a second request each.
    expect(call.all.filter(({ type }) => type === 'generate')).toHaveLength(8);
    for (const action of call.all) {
      if (action.type !== 'extract') continue;
      const asked = action.messages[0]?.content ?? '';
      const values = asked.includes('weekday (string)')
        ? { weekday: 'thursday' }
        : { call_disposition: 'booked' };
      call.tell({ type: 'extracted', extractionId: action.extractionId, values });
    }
    expect(call.heard().last('end').reason).toBe('user_qualified');
    const summary = call.engine.summarize(call.state);
    expect(summary.disposition).toBe('booked');
    expect(summary.gatheredContext).toMatchObject({ weekday: 'thursday' });
    expect(summary.lastNode?.name).toBe('Booked');
  });

  it("puts nothing into the model's context that the caller did not hear", () => {
    const call = new Conversation(dental, 'model').start({ clinic_name: 'Hill Dental' });
    call.interrupted(call.last('say').utteranceId, 'Welcome to Hill').caller('Book me in.');
    const shown = call.last('generate').messages.map(({ content }) => content);
    expect(shown).toContain('Welcome to Hill');
    expect(shown.join(' ')).not.toContain('or cancel an appointment?');
  });
});
