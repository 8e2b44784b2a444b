import { describe, expect, it } from 'vitest';
import { outcomeOf, outcomeOfFate, settlementOf } from '../../src/campaign/outcome.ts';
import { RETRY_DEFAULT } from '../../src/model/campaign.ts';
import type { Run } from '../../src/model/run.ts';

const talked = { startedAt: new Date(0) };
function run(more: Partial<Run>): Run {
  return {
    id: '1',
    organizationId: '1',
    workflowId: '1',
    definitionId: '1',
    campaignId: '1',
    name: 'r',
    mode: 'twilio',
    callType: 'outbound',
    state: 'completed',
    configurationId: '1',
    providerCallId: 'CA1',
    initialContext: {},
    gatheredContext: {},
    usageInfo: null,
    costInfo: null,
    logs: {},
    annotations: {},
    disposition: null,
    durationS: 0,
    recordingKey: null,
    transcriptKey: null,
    publicAccessToken: null,
    createdAt: new Date(0),
    startedAt: null,
    endedAt: new Date(0),
    ...more,
  };
}
const attempt = (of: Run | undefined, state: 'dialling' | 'placed' = 'placed') => ({
  id: '1',
  campaignId: '1',
  contactId: '1',
  phoneNumber: '+1',
  number: 1,
  interruptions: 0,
  state,
  node: 'n',
  run: of,
});
const stopped = { gatheredContext: { call_tags: ['system_connect_error', 'gateway_stopped'] } };

describe('the outcome of an attempt', () => {
  it.each<[string, Partial<Run>, string]>([
    ['a talk', { ...talked, disposition: 'user_hangup' }, 'answered'],
    ['a talk with an outcome of its own', { ...talked, disposition: 'busy' }, 'answered'],
    ['a talk that broke', { ...talked, disposition: 'unexpected_error' }, 'error'],
    [
      'a machine by the provider',
      { ...talked, disposition: 'user_hangup', gatheredContext: { answered_by: 'machine_start' } },
      'voicemail',
    ],
    [
      'a machine told of late',
      {
        ...talked,
        disposition: 'user_hangup',
        logs: { telephony_status_callbacks: [{ answered_by: 'fax' }] },
      },
      'voicemail',
    ],
    ['a machine by ourselves', { ...talked, disposition: 'voicemail_detected' }, 'voicemail'],
    [
      'a human by the provider',
      { ...talked, disposition: 'user_hangup', gatheredContext: { answered_by: 'human' } },
      'answered',
    ],
    ['busy', { disposition: 'busy' }, 'busy'],
    ['no answer', { disposition: 'no-answer' }, 'no_answer'],
    ['failed', { disposition: 'failed' }, 'failed'],
    ['canceled', { disposition: 'canceled' }, 'canceled'],
    ['lost on the way', { disposition: 'system_connect_error' }, 'error'],
    ['our stop while it rang', { ...stopped, disposition: 'system_connect_error' }, 'look-up'],
  ])('of %s', (_name, facts, outcome) => {
    expect(outcomeOf(attempt(run(facts)))).toBe(outcome);
  });

  it.each([
    ['busy', 'busy'],
    ['no-answer', 'no_answer'],
    ['failed', 'failed'],
    ['canceled', 'interrupted'],
    ['completed', 'interrupted'],
    [undefined, 'unknown'],
  ] as const)('after our stop, where the provider says %s, is %s', (fate, outcome) => {
    expect(outcomeOfFate(fate)).toBe(outcome);
  });

  it('is unknown where no provider knows the call, and where the run is gone', () => {
    const lost = run({ disposition: 'error', providerCallId: null });
    expect(outcomeOf(attempt(lost, 'dialling'))).toBe('unknown');
    expect(outcomeOf(attempt(undefined))).toBe('unknown');
  });
});

describe('a contact is called again', () => {
  const all = { ...RETRY_DEFAULT, maxRetries: 2, onVoicemail: true, delayS: 60 };
  const settle = (
    outcome: Parameters<typeof settlementOf>[0],
    number: number,
    interruptions = 0,
    retry = all,
  ) => settlementOf(outcome, { number, interruptions }, retry).again;

  it.each(['busy', 'no_answer', 'voicemail'] as const)('after %s, as often as is set', (reason) => {
    expect(settle(reason, 1)).toEqual({ delayMs: 60_000, reason });
    expect(settle(reason, 2)).toEqual({ delayMs: 60_000, reason });
    expect(settle(reason, 3)).toBeNull();
  });

  it('not where the setting is off', () => {
    expect(settle('busy', 1, 0, { ...all, onBusy: false })).toBeNull();
    expect(settle('no_answer', 1, 0, { ...all, onNoAnswer: false })).toBeNull();
    expect(settle('voicemail', 1, 0, { ...all, onVoicemail: false })).toBeNull();
    expect(settle('busy', 1, 0, { ...all, enabled: false })).toBeNull();
    expect(settle('busy', 1, 0, { ...all, maxRetries: 0 })).toBeNull();
  });

  it.each(['answered', 'failed', 'canceled', 'error', 'unknown'] as const)(
    'not after %s',
    (outcome) => {
      expect(settle(outcome, 1)).toBeNull();
    },
  );

  it('after our own stop, which takes none of its retries, three times', () => {
    const none = { ...all, enabled: false };
    expect(settle('interrupted', 1, 0, none)).toEqual({
      delayMs: 15_000,
      reason: 'interrupted',
    });
    expect(settle('interrupted', 4, 3, none)).toBeNull();
    expect(settle('busy', 3, 1)).not.toBeNull();
    expect(settle('busy', 4, 1)).toBeNull();
  });
});
