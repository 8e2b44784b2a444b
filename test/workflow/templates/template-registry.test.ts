// The templates: whole, and held without a language model.

import { describe, expect, it } from 'vitest';
import { workflowDefinition } from '../../../src/model/workflow.ts';
import { stripUnknownData } from '../../../src/workflow/graph/node-data.ts';
import { requiredTemplateVariables } from '../../../src/workflow/graph/required-variables.ts';
import { triggerPathsOf } from '../../../src/workflow/graph/trigger-path.ts';
import { validateDefinition } from '../../../src/workflow/graph/validate.ts';
import { templates } from '../../../src/workflow/templates/template-registry.ts';
import { Conversation } from '../conversation.ts';

const definitionOf = (name: string) => {
  const found = templates.find((template) => template.name === name);
  if (found === undefined) throw new Error(`no template ${name}`);
  return found.definition;
};
const begun = (name: string) => {
  const call = new Conversation(definitionOf(name), 'scripted').start({ first_name: 'Ada' });
  const [pause] = call.of('wait');
  return pause === undefined ? call : call.tell({ type: 'waited', waitId: pause.waitId });
};

describe.each(templates.map((template) => [template.name, template] as const))(
  '%s',
  (_name, of) => {
    it('is valid under either policy, runs without any variable and brings no trigger path', () => {
      const { definition } = of;
      expect(workflowDefinition.parse(definition)).toEqual(definition);
      expect(validateDefinition(definition, { full: true, policy: 'scripted' })).toEqual([]);
      expect(requiredTemplateVariables(definition)).toEqual([]);
      expect(stripUnknownData(definition)).toEqual(definition);
      expect(triggerPathsOf(definition)).toEqual([]);
    });
  },
);

it('templates have ids of their own', () => {
  expect(new Set(templates.map(({ id }) => id)).size).toBe(templates.length);
  for (const { id } of templates) expect(id).toMatch(/^[1-9]\d*$/);
});

describe('without a model', () => {
  it('the reminder notes another day', () => {
    const call = begun('Appointment reminder');
    expect(call.said[0]).toContain('Hello Ada');
    call.heard().caller('another day', 0.9);
    expect(call.said).toEqual(['No problem. Which day of the week would suit you better?']);
    call.heard().caller('tuesday', 0.9).heard();
    expect(call.last('end').reason).toBe('user_qualified');
    expect(call.gathered).toMatchObject({
      coming: 'another day',
      preferred_weekday: 'tuesday',
    });
  });

  it('the reception books, gives the hours and takes a number', () => {
    const booking = begun('Reception').heard().caller('opening hours', 0.9);
    expect(booking.said[0]).toContain('We are open');
    booking.heard().caller('appointment', 0.9).heard().caller('wednesday', 0.9);
    expect(booking.said).toEqual(['And in the morning, or in the afternoon?']);
    booking.heard().caller('morning', 0.9).heard();
    expect(booking.last('end').reason).toBe('user_qualified');
    const number = begun('Reception').heard().caller('call me back', 0.9).heard();
    number.caller('five five five one two', 0.9).heard().caller('yes', 0.9).heard();
    expect(number.last('end').reason).toBe('user_qualified');
  });

  it('the survey asks for a mark and an answer', () => {
    const call = begun('Satisfaction survey').heard().caller('yes please', 0.9).heard();
    call.caller('four', 0.9).heard().caller('yes', 0.9).heard();
    expect(call.last('end').reason).toBe('user_qualified');
    expect(call.gathered).toMatchObject({ would_come_again: true });
    expect(String(call.gathered['mark'])).toBe('4');
  });

  it('the first call agrees on a day and a time, or takes a no', () => {
    const call = begun('First call to an interested person').heard();
    call.caller('i am interested', 0.9).heard().caller('friday', 0.9).heard();
    call.caller('three pm', 0.9).heard();
    expect(call.last('end').reason).toBe('user_qualified');
    const no = begun('First call to an interested person').heard().caller('not interested', 0.9);
    expect(no.said[0]).toContain('will not call you');
  });
});
