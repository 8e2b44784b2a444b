// Template: the first call to a person who has asked for information. Outbound; works without a language model too.

import { edge, step, type WorkflowTemplate } from './workflow-template.ts';

export const firstCall: WorkflowTemplate = {
  id: '4',
  name: 'First call to an interested person',
  description:
    'Calls somebody who has asked for information, finds out whether they still want it and when an ' +
    'expert may call. Can be started by a program. Variables: company, first_name, product.',
  createdAt: '2026-09-01T00:00:00.000Z',
  definition: {
    nodes: [
      step('1', 'globalNode', {
        at: [-300, 0],
        name: 'Who calls',
        prompt:
          'You call for {{company | our company}} because {{first_name | the person}} has asked about ' +
          '{{product | an offer}}. You are a machine and say so when asked. Never press anybody, never ' +
          'promise prices. If the person wants no calls, accept it at once.',
      }),
      step('2', 'startCall', {
        at: [0, 0],
        name: 'Opening',
        greeting:
          'Hello {{first_name | there}}, this is {{company | our company}}. You asked us about ' +
          '{{product | our offer}}. Are you still interested?',
        prompt: 'Find out whether the person still wants information.',
        reprompt: 'Sorry. Please say, I am interested, or, not interested.',
        allow_interrupt: true,
        delayed_start: true,
        delayed_start_duration: 1,
      }),
      step('3', 'agentNode', {
        at: [350, -100],
        name: 'When',
        prompt:
          'Ask on which day an expert may call, and at what time. Repeat day and time back. If asked about ' +
          'the offer, say that the expert will explain it.',
        say: 'Good. On which day of the week may our expert call you?',
        reprompt: 'Sorry, which day of the week? For example, Friday.',
        slots: [
          { name: 'call_weekday', type: 'weekday' },
          { name: 'call_time', type: 'time', ask: 'And at what time?' },
        ],
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [
          { name: 'call_weekday', type: 'string', prompt: 'Day of the week, lower case' },
          { name: 'call_time', type: 'string', prompt: 'Time of day, 24 hours, as 14:30' },
          { name: 'question', type: 'string', prompt: 'What the person wants to know most' },
        ],
      }),
      step('4', 'endCall', {
        at: [700, -100],
        name: 'Call agreed',
        prompt: 'Repeat when the expert will call, thank the person and say goodbye.',
        say: 'Our expert will call you then. Thank you. Goodbye.',
      }),
      step('5', 'endCall', {
        at: [350, 150],
        name: 'Not interested',
        prompt: 'Say that you will not call again about this, and say goodbye.',
        say: 'I understand. We will not call you about this again. Goodbye.',
      }),
      step('6', 'trigger', { at: [-300, 250], name: 'Started by a program', enabled: true }),
    ],
    edges: [
      edge('2-3', 'Interested', {
        condition: 'The person still wants information.',
        phrases: ['i am interested', 'yes please', 'yes i am'],
        dtmf: '1',
        slot: 'interested',
        value: 'yes',
      }),
      edge('2-5', 'Not interested', {
        condition: 'The person does not want to be called about this.',
        phrases: ['not interested', 'no thank you', 'do not call again'],
        dtmf: '2',
        slot: 'interested',
        value: 'no',
      }),
      edge('3-4', 'Agreed', { condition: 'Day and time are known.', slot: 'all' }),
    ],
    viewport: { x: 0, y: 0, zoom: 0.8 },
  },
};
