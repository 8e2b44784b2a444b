// Variables that a call must be given. Source: contract §5.6.

import { describe, expect, it } from 'vitest';
import { requiredTemplateVariables } from '../../../src/workflow/graph/required-variables.ts';
import { definition, edge, end, start } from '../definitions.ts';

describe('required template variables', () => {
  it('are the top-level names that are used without a default', () => {
    const given = definition(
      [
        start('1', {
          prompt: 'For {{customer_name}} of {{org.name}}',
          greeting: 'Hi {{first|you}}',
        }),
        end('2', {
          prompt: '{{current_time}} {{campaign_id}} {{customer_name}}',
          say: '{{office}}',
        }),
        { id: 'g', type: 'globalNode', data: { name: 'G', prompt: '{{company}}' } },
        { id: 'w', type: 'webhook', data: { prompt: '{{ignored}}' } },
      ],
      [edge('1', '2', { transition_speech: 'One moment, {{title}}.' })],
    );
    expect(requiredTemplateVariables(given)).toEqual([
      'customer_name',
      'office',
      'company',
      'title',
    ]);
  });

  it('need no column for what the gateway itself says of every call', () => {
    const names = ['called_number', 'caller_number', 'direction', 'telephony_configuration_id'];
    const greeting = [...names, 'workflow_run_id'].map((name) => `{{${name}}}`).join(' ');
    const given = definition([start('1', { greeting }), end('2')], [edge('1', '2')]);
    expect(requiredTemplateVariables(given)).toEqual([]);
  });
});
