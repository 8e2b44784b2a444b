import { describe, expect, it } from 'vitest';
import {
  contactOutcomeAfterCrash,
  contactOutcomeOf,
  settlementOf,
} from '../../src/campaign/contact-outcome.ts';
import { RETRY_DEFAULT } from '../../src/model/campaign.ts';
import type { Run } from '../../src/model/run.ts';
import { completedRun } from '../fakes/call/completed-run.ts';

const run = completedRun;
const talked = { startedAt: new Date(0) };
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
  isInDoubt: false,
  unclearMs: 0,
  missedMs: null,
  putOffs: 0,
  putOffMs: null,
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
    [
      'a person by ourselves, whatever the provider says',
      {
        ...talked,
        disposition: 'user_hangup',
        gatheredContext: { answered_by: 'human' },
        logs: { telephony_status_callbacks: [{ answered_by: 'machine_start' }] },
      },
      'answered',
    ],
    ['no number', { ...talked, disposition: 'number_not_in_service' }, 'failed'],
    ['busy', { disposition: 'busy' }, 'busy'],
    ['no answer', { disposition: 'no-answer' }, 'no_answer'],
    ['failed', { disposition: 'failed' }, 'failed'],
    ['canceled', { disposition: 'canceled' }, 'canceled'],
    ['lost on the way', { disposition: 'system_connect_error' }, 'error'],
    ['our stop while it rang', { ...stopped, disposition: 'system_connect_error' }, 'look-up'],
  ])('of %s', (_name, facts, outcome) => {
    expect(contactOutcomeOf(attempt(run(facts)))).toBe(outcome);
  });

  it.each([
    ['busy', 'busy', 'busy'],
    ['no-answer', 'no_answer', 'no_answer'],
    ['failed', 'failed', 'failed'],
    ['canceled', 'interrupted', 'error'],
    ['completed', 'interrupted', 'error'],
  ] as const)(
    'where the provider says %s is %s after our stop, and %s of a call that we lost sight of',
    (fate, afterStop, otherwise) => {
      expect(contactOutcomeAfterCrash(fate, run(stopped))).toBe(afterStop);
      expect(contactOutcomeAfterCrash(fate, run({}))).toBe(otherwise);
    },
  );

  it('of a dial in doubt is for the provider to say, whether its run is open or closed by its watch', () => {
    const open = run({ state: 'initialized', providerCallId: null });
    const closed = run({ disposition: 'system_connect_error', providerCallId: null });
    for (const each of [open, closed]) {
      const inDoubt = { ...attempt(each, 'dialling'), isInDoubt: true };
      expect(contactOutcomeOf(inDoubt)).toBe('look-up');
    }
  });

  it('of a dial that the provider refused is failed, and unknown where the run is gone', () => {
    const refused = run({ disposition: 'error', providerCallId: null });
    expect(contactOutcomeOf(attempt(refused, 'dialling'))).toBe('failed');
    expect(contactOutcomeOf(attempt(undefined))).toBe('unknown');
  });
});

describe('a contact is called again', () => {
  const all = { ...RETRY_DEFAULT, maxRetries: 2, onVoicemail: true, delayS: 60 };
  const settle = (
    outcome: Parameters<typeof settlementOf>[0],
    number: number,
    interruptions = 0,
    retry = all,
    interruptedExtra = 0,
  ) => settlementOf(outcome, { number, interruptions }, { retry, interruptedExtra }).again;

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

  it.each(['answered', 'failed', 'canceled', 'error', 'unknown', 'not_placed'] as const)(
    'not after %s',
    (outcome) => {
      expect(settle(outcome, 1)).toBeNull();
    },
  );

  it('after our own stop, as long as calls are left by its settings', () => {
    const again = { delayMs: 15_000, reason: 'interrupted' };
    expect(settle('interrupted', 1, 0)).toEqual(again);
    expect(settle('interrupted', 2, 1)).toEqual(again);
    expect(settle('interrupted', 3, 2)).toBeNull();
    expect(settle('interrupted', 3, 0)).toBeNull();
    expect(settle('interrupted', 1, 0, { ...all, maxRetries: 0 })).toBeNull();
    expect(settle('interrupted', 1, 0, { ...all, enabled: false })).toBeNull();
  });

  it('no more often because of our own stops, unless that is set', () => {
    expect(settle('busy', 3, 1)).toBeNull();
    expect(settle('busy', 3, 2)).toBeNull();
    expect(settle('busy', 3, 1, all, 1)).toMatchObject({ reason: 'busy' });
    expect(settle('busy', 4, 1, all, 3)).toBeNull();
    expect(settle('busy', 4, 2, all, 3)).not.toBeNull();
    expect(settle('busy', 4, 3, all, 1)).toBeNull();
    const none = { ...all, enabled: false };
    expect(settle('interrupted', 1, 0, none, 2)).not.toBeNull();
    expect(settle('interrupted', 2, 1, none, 2)).not.toBeNull();
    expect(settle('interrupted', 3, 2, none, 2)).toBeNull();
  });

  it('does not call again where a message was left', () => {
    const retry = { ...RETRY_DEFAULT, enabled: true, maxRetries: 2, onVoicemail: true };
    const limits = { retry, interruptedExtra: 0 };
    const history = (message: string) => ({
      number: 1,
      interruptions: 0,
      run: { gatheredContext: { voicemail_message: message } },
    });
    expect(settlementOf('voicemail', history('left'), limits).again).toBeNull();
    expect(settlementOf('voicemail', history('cut_off'), limits).again?.reason).toBe('voicemail');
  });
});
