// The organization and the user who ask. Source: contract §3.5 and §8.9.

import { describe, expect, it } from 'vitest';
import { llmServices } from '../../../src/model/speech-services/services.ts';
import { workflowConfigurations } from '../../../src/model/workflow.ts';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;

describe('the organization', () => {
  it('says which it is', async () => {
    const { organizationId } = served.test.owner;
    expect(await ok('GET', '/organizations/context')).toEqual({
      organization_id: organizationId,
      organization_provider_id: `org_local_${organizationId}`,
      model_services: {
        config_source: 'empty',
        has_model_configuration_v2: false,
        managed_service_version: null,
        uses_managed_service_v2: false,
      },
    });
  });

  it('has its source of services without the key that sealed them', async () => {
    const { organizationId } = served.test.owner;
    await served.test.sql(
      `insert into model_configurations (organization_id, sealed, revision, updated_at)
       values ($1, 'v1.unknown.key', gen_random_uuid(), now())`,
      [organizationId],
    );
    const { model_services: services } = await ok('GET', '/organizations/context');
    expect(services).toMatchObject({
      config_source: 'organization_v2',
      has_model_configuration_v2: true,
    });
  });

  it('has no preferences at first, keeps what is left out, and removes what is null', async () => {
    const path = '/organizations/preferences';
    const none = {
      test_phone_number: null,
      timezone: null,
      external_pbx_integrations_enabled: false,
    };
    const all = {
      test_phone_number: '+47 12 34 56 78',
      timezone: 'Europe/Oslo',
      external_pbx_integrations_enabled: true,
    };
    expect(await ok('GET', path)).toEqual(none);
    expect(await ok('PUT', path, all)).toEqual(all);
    expect(await ok('PUT', path, {})).toEqual(all);
    expect(await ok('PUT', path, { external_pbx_integrations_enabled: null })).toEqual(all);
    const changed = { ...all, timezone: null, test_phone_number: null };
    expect(await ok('PUT', path, { timezone: null, test_phone_number: '' })).toEqual(changed);
    expect(await ok('GET', path)).toEqual(changed);
    const { apiKey: key } = await served.stranger();
    expect((await call('GET', `/api/v1${path}`, { key })).body).toEqual(none);
  });

  it.each([
    [{ timezone: 'Mars/Olympus' }, 'value_error', 'timezone'],
    [{ timezone: '+05:00' }, 'value_error', 'timezone'],
  ])('does not take %j', async (body, type, field) => {
    const answer = await call('PUT', '/api/v1/organizations/preferences', { body });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ type, loc: ['body', field] });
  });

  it("returns the dispositions: the system's in their order, then its agents' own, sorted", async () => {
    const made = await ok('POST', '/workflow/create/definition', {
      name: 'agent',
      workflow_definition: smallWorkflow,
    });
    for (const code of ['sold', 'user_hangup', 'callback']) {
      await served.test.store.workflows.addDisposition(made.id, code);
    }
    const own = [
      'call_duration_exceeded',
      'call_transferred',
      'end_call_tool',
      'voicemail_detected',
      'user_idle_max_duration_exceeded',
      'user_hangup',
      'user_qualified',
      'user_disqualified',
      'system_cancelled',
      'system_connect_error',
      'unexpected_error',
      'unknown',
      'transfer_call',
      'pipeline_error',
      'voicemail_no_message',
      'ivr_detected',
      'screening_message_missing',
      'screening_limit',
      'screening_timeout',
      'hold_timeout',
      'number_not_in_service',
    ];
    const carriers = ['no-answer', 'busy', 'failed', 'canceled', 'error'];
    const path = '/organizations/disposition-codes';
    expect(await ok('GET', path)).toEqual({
      codes: [...own, ...carriers, 'callback', 'sold'],
      end_task_reason_codes: own,
    });
    const { apiKey: key } = await served.stranger();
    const theirs = await call('GET', `/api/v1${path}`, { key });
    expect(theirs.body.codes).toEqual([...own, ...carriers]);
  });
});

describe('the user', () => {
  it('is no superuser', async () => {
    expect(await ok('GET', '/user/auth/user')).toEqual({
      id: served.test.owner.userId,
      is_superuser: false,
    });
  });

  it('has notes of a tour, changed one by one', async () => {
    const path = '/user/onboarding-state';
    const none = {
      completed_at: null,
      skipped: false,
      seen_tooltips: [],
      completed_actions: [],
    };
    expect(await ok('GET', path)).toEqual(none);
    const seen = { completed_at: '2026-01-02T03:04:05+02:00', seen_tooltips: ['a', 'b'] };
    const expected = {
      ...none,
      completed_at: '2026-01-02T01:04:05.000Z',
      seen_tooltips: ['a', 'b'],
    };
    expect(await ok('PUT', path, seen)).toEqual(expected);
    expect(await ok('PUT', path, { skipped: true, seen_tooltips: null })).toEqual({
      ...expected,
      skipped: true,
    });
    expect(await ok('PUT', path, { completed_at: null, skipped: false })).toEqual({
      ...expected,
      completed_at: null,
    });
    const unstorable = { seen_tooltips: ['\0', 'a\0'] };
    expect(await ok('PUT', path, unstorable)).toMatchObject({ seen_tooltips: ['', 'a'] });
    const { apiKey: key } = await served.stranger();
    expect((await call('GET', `/api/v1${path}`, { key })).body).toEqual(none);
  });

  it('has notes of a bounded size', async () => {
    for (const body of [
      { completed_at: '9999-12-31T23:59:59-01:00' },
      { completed_at: '0000-01-01T00:00:00+01:00' },
    ]) {
      const answer = await call('PUT', '/api/v1/user/onboarding-state', { body });
      expect(answer.status).toBe(422);
    }
  });
});

describe('the defaults of an agent', () => {
  it('are returned without a key: the available services, and the settings', async () => {
    const answer = await call('GET', '/api/v1/user/configurations/defaults', { key: null });
    expect(answer.status).toBe(200);
    const { body } = answer;
    expect(Object.keys(body)).toEqual([
      'llm',
      'tts',
      'stt',
      'embeddings',
      'realtime',
      'default_providers',
      'workflow_configurations',
      'text_chat_inactivity_timeout_constraints',
      'widget_text_defaults',
    ]);
    expect(Object.keys(body.llm)).toEqual(Object.keys(llmServices));
    expect(body.llm.openai.properties.model).toMatchObject({ allow_custom_input: true });
    expect(body.tts.flite.properties.voice).toMatchObject({ default: 'slt' });
    expect(body.default_providers).toEqual({ llm: 'scripted', tts: 'flite' });
    expect(body.workflow_configurations).toEqual(workflowConfigurations.parse({}));
    expect(body.text_chat_inactivity_timeout_constraints).toEqual({
      default_seconds: 1_800,
      minimum_seconds: 60,
      maximum_seconds: 10_500,
    });
  });
});
