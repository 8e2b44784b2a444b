// Template: answers the telephone, books and takes messages. Inbound; works without a language model too.

import { edge, step, type WorkflowTemplate } from './workflow-template.ts';

export const reception: WorkflowTemplate = {
  id: '2',
  name: 'Reception',
  description:
    'Answers the telephone: takes wishes for appointments, tells the opening hours, notes a number to ' +
    'call back. Variables: company, opening_hours.',
  createdAt: '2026-09-01T00:00:00.000Z',
  definition: {
    nodes: [
      step('1', 'globalNode', {
        at: [-300, 0],
        name: 'Receptionist',
        prompt:
          'You answer the telephone of {{company | our practice}}. Speak in short, plain sentences and ask ' +
          'one thing at a time. Opening hours: {{opening_hours | Monday to Friday, nine to five}}. If you ' +
          'do not know something, offer a call back. Never make up prices, times or names.',
      }),
      step('2', 'startCall', {
        at: [0, 0],
        name: 'Welcome',
        greeting:
          'Welcome to {{company | our practice}}. Would you like an appointment, our opening hours, or a ' +
          'call back?',
        prompt:
          'Find out what the caller wants: an appointment, the opening hours, or that somebody calls back.',
        reprompt: 'Sorry. Please say, appointment, opening hours, or, call me back.',
        allow_interrupt: true,
      }),
      step('3', 'agentNode', {
        at: [350, -200],
        name: 'Appointment',
        prompt:
          'Ask for the day of the week and whether morning or afternoon suits better. Repeat both.',
        say: 'On which day of the week would you like to come?',
        reprompt: 'Sorry, which day of the week? For example, Wednesday.',
        slots: [
          { name: 'weekday', type: 'weekday' },
          {
            name: 'part_of_day',
            choices: ['morning', 'afternoon'],
            ask: 'And in the morning, or in the afternoon?',
          },
        ],
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [
          { name: 'weekday', type: 'string', prompt: 'Day of the week, lower case' },
          { name: 'part_of_day', type: 'string', prompt: 'morning or afternoon' },
        ],
      }),
      step('4', 'agentNode', {
        at: [350, 0],
        name: 'Opening hours',
        prompt: 'Tell the opening hours and ask whether the caller wants an appointment as well.',
        say:
          'We are open {{opening_hours | Monday to Friday, from nine to five}}. Would you like an ' +
          'appointment, or is that all?',
        reprompt: 'Sorry. Please say, appointment, or, that is all.',
        allow_interrupt: true,
      }),
      step('5', 'agentNode', {
        at: [350, 200],
        name: 'Number',
        prompt: 'Ask for the number to call back and read it back digit by digit.',
        say: 'At which number can we reach you?',
        reprompt: 'Sorry. Please say the number, or type it and press the pound key.',
        slots: [{ name: 'callback_number', type: 'digits', digits_min: 4, digits_max: 15 }],
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [
          { name: 'callback_number', type: 'string', prompt: 'The number, digits only' },
        ],
      }),
      step('6', 'endCall', {
        at: [700, 0],
        name: 'Goodbye',
        prompt: 'Sum up in one sentence what was agreed, thank the caller and say goodbye.',
        say: 'Thank you for calling. We will be in touch. Goodbye.',
      }),
    ],
    edges: [
      edge('2-3', 'Appointment', {
        condition: 'The caller wants an appointment.',
        phrases: ['appointment', 'i would like an appointment', 'book an appointment'],
        dtmf: '1',
      }),
      edge('2-4', 'Opening hours', {
        condition: 'The caller asks when somebody is there.',
        phrases: ['opening hours', 'when are you open'],
        dtmf: '2',
      }),
      edge('2-5', 'Call back', {
        condition: 'The caller wants to be called back, or something that you cannot do.',
        phrases: ['call me back', 'call back'],
        dtmf: '3',
      }),
      edge('3-6', 'Noted', { condition: 'Day and part of the day are known.', slot: 'all' }),
      edge('4-3', 'Appointment', {
        condition: 'The caller wants an appointment after all.',
        phrases: ['appointment', 'yes please'],
        dtmf: '1',
      }),
      edge('4-6', 'That is all', {
        condition: 'The caller needs nothing else.',
        phrases: ['that is all', 'no thank you'],
        dtmf: '2',
      }),
      edge('5-6', 'Number known', {
        condition: 'The number has been read back and is right.',
        slot: 'callback_number',
      }),
    ],
    viewport: { x: 0, y: 0, zoom: 0.8 },
  },
};
