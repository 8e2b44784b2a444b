// The settings of agents and who may change them. Source: contract §5.1 and §5.5.

import { describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;

const create = () =>
  ok('POST', '/workflow/create/definition', { name: 'agent', workflow_definition: smallWorkflow });
const refusal = async (...request: Parameters<typeof call>) => {
  const [method, path, options] = request;
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body.detail];
};

describe('settings of an agent', () => {
  it.each<[object, string, (string | number)[]]>([
    [{ max_call_duration: 0 }, 'greater_than', ['max_call_duration']],
    [{ max_call_duration: 'x' }, 'int_parsing', ['max_call_duration']],
    [{ max_call_duration: 1.5 }, 'int_from_float', ['max_call_duration']],
    [{ max_call_duration: true }, 'int_type', ['max_call_duration']],
    [{ turn_start_strategy: 'guess' }, 'literal_error', ['turn_start_strategy']],
    [{ turn_stop_strategy: 'guess' }, 'literal_error', ['turn_stop_strategy']],
    [
      { text_chat_inactivity_timeout_seconds: 59 },
      'greater_than_equal',
      ['text_chat_inactivity_timeout_seconds'],
    ],
    [
      { text_chat_inactivity_timeout_seconds: 10_501 },
      'less_than_equal',
      ['text_chat_inactivity_timeout_seconds'],
    ],
    [
      { external_pbx_lead_headers: ['1st'] },
      'string_pattern_mismatch',
      ['external_pbx_lead_headers', 0],
    ],
    [
      { external_pbx_field_mappings: [{ context_path: 'a' }] },
      'missing',
      ['external_pbx_field_mappings', 0, 'destination_field'],
    ],
    [
      { external_pbx_lead_headers: Array.from({ length: 51 }, () => 'a') },
      'too_long',
      ['external_pbx_lead_headers'],
    ],
  ])('%j are 422', async (settings, type, place) => {
    const { id } = await create();
    const [status, detail] = await refusal('PUT', `/workflow/${id}`, {
      body: { workflow_configurations: settings },
    });
    expect([status, detail[0].type, detail[0].loc]).toEqual([
      422,
      type,
      ['body', 'workflow_configurations', ...place],
    ]);
  });

  it('for an external PBX are 403 to change, and stay, while the organization has it off', async () => {
    const { id } = await create();
    const mappings = [{ context_path: 'lead.id', destination_field: 'lead_id' }];
    const put = (settings: object) => ({ body: { workflow_configurations: settings } });
    const path = `/workflow/${id}`;
    for (const [name, value] of [
      ['external_pbx_field_mappings', mappings],
      ['external_pbx_lead_headers', ['lead_id']],
    ] as const) {
      const [status, detail] = await refusal('PUT', path, put({ [name]: value }));
      expect([status, detail]).toEqual([
        403,
        `External PBX integrations are disabled for this organization. Enable them in the organization's preferences before you change ${name}.`,
      ]);
    }
    expect(await ok('GET', `/workflow/fetch/${id}`)).toMatchObject({ version_status: 'published' });
    await ok('PUT', path, put({ external_pbx_lead_headers: [] }).body);

    const preferences = '/organizations/preferences';
    await ok('PUT', preferences, { external_pbx_integrations_enabled: true });
    await ok('PUT', path, put({ external_pbx_field_mappings: mappings }).body);
    await ok('PUT', preferences, { external_pbx_integrations_enabled: false });
    const hidden = await ok('PUT', path, put({ max_call_duration: 60 }).body);
    expect(hidden.workflow_configurations).toEqual({
      max_call_duration: 60,
      external_pbx_field_mappings: mappings,
    });
    const same = { max_call_duration: 70, external_pbx_field_mappings: mappings };
    expect((await ok('PUT', path, put(same).body)).workflow_configurations).toEqual(same);
    const none = put({ external_pbx_field_mappings: [] });
    expect((await refusal('PUT', path, none))[0]).toBe(403);

    await ok('PUT', preferences, { external_pbx_integrations_enabled: true });
    const cleared = await ok('PUT', path, none.body);
    expect(cleared.workflow_configurations).toEqual({ external_pbx_field_mappings: [] });
  });
});
