// Template: two questions after a visit. Outbound; works without a language model too.

import { edge, step, type WorkflowTemplate } from './workflow-template.ts';

export const satisfactionSurvey: WorkflowTemplate = {
  id: '3',
  name: 'Satisfaction survey',
  description:
    'Asks after a visit for a mark from one to five and whether the person would come again, and can ' +
    'send both to another system. Variables: company, first_name.',
  createdAt: '2026-09-01T00:00:00.000Z',
  definition: {
    nodes: [
      step('1', 'globalNode', {
        at: [-300, 0],
        name: 'Who asks',
        prompt:
          'You call for {{company | a company}} about a visit of {{first_name | the person}}. Two short ' +
          'questions, no small talk. Thank for every answer, good or bad, and never argue.',
      }),
      step('2', 'startCall', {
        at: [0, 0],
        name: 'Ask for a minute',
        greeting:
          'Hello {{first_name | there}}, this is {{company | your service team}}. Do you have a minute for two ' +
          'questions about your visit?',
        prompt: 'Find out whether the person has a minute for two questions about the visit.',
        reprompt: 'Sorry. Do you have a minute? Please say, yes please, or, no thank you.',
        allow_interrupt: true,
        delayed_start: true,
        delayed_start_duration: 1,
      }),
      step('3', 'agentNode', {
        at: [350, -100],
        name: 'Mark',
        prompt:
          'Ask how satisfied the person was, from one, not at all, to five, fully. One whole number.',
        say: 'How satisfied were you, from one, not at all, to five, fully?',
        reprompt: 'Sorry. Please say or press a number from one to five.',
        slots: [{ name: 'mark', type: 'digit', choices: ['1', '2', '3', '4', '5'] }],
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [{ name: 'mark', type: 'number', prompt: 'From 1 to 5' }],
      }),
      step('4', 'agentNode', {
        at: [700, -100],
        name: 'Again',
        prompt: 'Ask whether the person would come again. If not, ask in one sentence why.',
        say: 'Thank you. Would you come to us again?',
        reprompt: 'Sorry. Would you come again, yes or no?',
        slots: [{ name: 'would_come_again', type: 'yes_no' }],
        allow_interrupt: true,
        extraction_enabled: true,
        extraction_variables: [
          { name: 'would_come_again', type: 'boolean' },
          { name: 'remark', type: 'string', prompt: 'What the person praised or missed' },
        ],
      }),
      step('5', 'endCall', {
        at: [1_050, -100],
        name: 'Thanks',
        prompt: 'Thank the person for the answers and say goodbye.',
        say: 'Thank you very much, that helps us. Goodbye.',
      }),
      step('6', 'endCall', {
        at: [350, 150],
        name: 'No time',
        prompt: 'Say that this is fine, and say goodbye.',
        say: 'That is fine. Have a good day. Goodbye.',
      }),
      step('7', 'webhook', {
        at: [-300, 250],
        name: 'Send the answers',
        enabled: false,
        http_method: 'POST',
        payload_template: {
          person: '{{initial_context.first_name}}',
          mark: '{{gathered_context.mark}}',
          would_come_again: '{{gathered_context.would_come_again}}',
          call: '{{workflow_run_id}}',
        },
      }),
    ],
    edges: [
      edge('2-3', 'Has time', {
        condition: 'The person agrees to answer.',
        phrases: ['yes please', 'yes i do', 'go ahead'],
        dtmf: '1',
      }),
      edge('2-6', 'No time', {
        condition: 'The person does not want to answer.',
        phrases: ['no thank you', 'not now'],
        dtmf: '2',
      }),
      edge('3-4', 'Mark known', { condition: 'A mark has been given, or refused.', slot: 'mark' }),
      edge('4-5', 'Answered', {
        condition: 'The question has been answered.',
        slot: 'would_come_again',
      }),
    ],
    viewport: { x: 0, y: 0, zoom: 0.8 },
  },
};
