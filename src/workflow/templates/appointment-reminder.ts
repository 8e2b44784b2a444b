// Template: reminds a person of an appointment. Outbound; works without a language model too.

import { edge, step, type WorkflowTemplate } from './workflow-template.ts';

export const appointmentReminder: WorkflowTemplate = {
  id: '1',
  name: 'Appointment reminder',
  description:
    'Calls somebody before an appointment, asks whether it suits, and notes a wish for another day. ' +
    'Variables: company, first_name, appointment.',
  createdAt: '2026-09-01T00:00:00.000Z',
  definition: {
    nodes: [
      step('1', 'globalNode', {
        at: [-300, 0],
        name: 'Who calls',
        prompt:
          'You call for {{company | our office}} and speak with {{first_name | a customer}} on the ' +
          'telephone. Be brief and kind. Speak plain sentences. Never urge anybody, and never discuss ' +
          'what the appointment is about.',
      }),
      step('2', 'startCall', {
        at: [0, 0],
        name: 'Remind',
        greeting:
          'Hello {{first_name | there}}, this is {{company | our office}}. You have an appointment ' +
          '{{appointment | with us soon}}. Will you be able to come?',
        prompt:
          'The person has just been reminded of the appointment {{appointment | that is coming up}}. ' +
          'Find out whether they will come, want another day, or want to cancel.',
        reprompt: 'Sorry. Please say, I will come, another day, or, cancel it.',
        allow_interrupt: true,
        delayed_start: true,
        delayed_start_duration: 1,
        extraction_enabled: true,
        extraction_variables: [
          { name: 'coming', type: 'string', prompt: 'yes, another day, or no' },
        ],
      }),
      step('3', 'agentNode', {
        at: [350, 0],
        name: 'Find a day',
        prompt:
          'Ask which day of the week would suit better. Say that somebody will call back to fix the time.',
        say: 'No problem. Which day of the week would suit you better?',
        reprompt: 'Sorry, which day of the week? For example, Tuesday.',
        slots: [{ name: 'preferred_weekday', type: 'weekday' }],
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [
          { name: 'preferred_weekday', type: 'string', prompt: 'Day of the week, lower case' },
        ],
      }),
      step('4', 'endCall', {
        at: [700, -200],
        name: 'Coming',
        prompt: 'Thank them, say that you look forward to seeing them, and say goodbye.',
        say: 'Thank you. We look forward to seeing you. Goodbye.',
      }),
      step('5', 'endCall', {
        at: [700, 0],
        name: 'Another day',
        prompt: 'Say that somebody will call about the new time, and say goodbye.',
        say: 'Thank you. Somebody will call you about the time. Goodbye.',
      }),
      step('6', 'endCall', {
        at: [700, 200],
        name: 'Cancelled',
        prompt: 'Confirm that the appointment is cancelled, and say goodbye.',
        say: 'Your appointment is cancelled. Thank you for telling us. Goodbye.',
      }),
    ],
    edges: [
      edge('2-4', 'Coming', {
        condition: 'The person will come.',
        phrases: ['i will come', 'yes please', 'yes i will'],
        dtmf: '1',
        slot: 'coming',
        value: 'yes',
      }),
      edge('2-3', 'Another day', {
        condition: 'The person wants another day.',
        phrases: ['another day', 'i cannot come', 'reschedule'],
        dtmf: '2',
        slot: 'coming',
        value: 'another day',
      }),
      edge('2-6', 'Cancel', {
        condition: 'The person wants no appointment any more.',
        phrases: ['cancel it', 'cancel the appointment'],
        dtmf: '3',
        slot: 'coming',
        value: 'no',
      }),
      edge('3-5', 'Day known', {
        condition: 'A day has been named, or none suits.',
        slot: 'preferred_weekday',
      }),
    ],
    viewport: { x: 0, y: 0, zoom: 0.8 },
  },
};
