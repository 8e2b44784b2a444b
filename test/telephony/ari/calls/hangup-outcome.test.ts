// Every row of the measured table, asterisk §4.2.

import { describe, expect, it } from 'vitest';
import type { TerminalStatus } from '../../../../src/model/provider.ts';
import {
  type CallFacts,
  hangupOutcomeOf,
  UNDIALLED,
} from '../../../../src/telephony/ari/calls/hangup-outcome.ts';

const facts = (known: Partial<CallFacts> = {}): CallFacts => ({ ...UNDIALLED, ...known });
const RANG = { progressed: true };
const REPLIED = { endedByFarEnd: true };

describe('how a call over Asterisk ended', () => {
  it.each<[string, Partial<CallFacts>, number, TerminalStatus, string]>([
    ['busy over SIP', { dialStatus: 'BUSY' }, 17, 'busy', 'busy (cause 17)'],
    ['busy over Local', { progressed: true, dialStatus: 'BUSY' }, 0, 'busy', 'busy'],
    ['made, and leads nowhere', { dialled: false }, 16, 'failed', 'no such destination (cause 16)'],
    ['rang, time ran out', { progressed: true }, 19, 'no-answer', 'no answer (cause 19)'],
    ['nobody reached', {}, 19, 'no-answer', 'unreachable (cause 19)'],
    ['congestion over SIP', { dialStatus: 'CONGESTION' }, 34, 'failed', 'congestion (cause 34)'],
    ['congestion over Local', { dialStatus: 'CONGESTION' }, 0, 'failed', 'congestion'],
    ['rejected, called NOANSWER', { dialStatus: 'NOANSWER' }, 21, 'failed', 'rejected (cause 21)'],
    ['no such number', { dialStatus: 'NOANSWER' }, 1, 'failed', 'unallocated number (cause 1)'],
    ['no such extension', {}, 0, 'failed', 'unknown'],
    ['no route over Local', { dialStatus: 'CHANUNAVAIL' }, 3, 'failed', 'no route (cause 3)'],
    ['network', { dialStatus: 'NOANSWER' }, 38, 'failed', 'network out of order (cause 38)'],
    [
      'our end while it rang',
      { progressed: true, cancelled: true },
      16,
      'canceled',
      'normal clearing (cause 16)',
    ],
    [
      'given up before the answer',
      { progressed: true },
      16,
      'no-answer',
      'normal clearing (cause 16)',
    ],
    [
      'the far end after the answer',
      { answered: true },
      16,
      'completed',
      'normal clearing (cause 16)',
    ],
    [
      'our end after the answer',
      { answered: true, cancelled: true },
      32,
      'completed',
      'normal (cause 32)',
    ],
    [
      'a telephone that is off: 480',
      { ...REPLIED, sipStatus: 480 },
      19,
      'no-answer',
      'no answer (cause 19, SIP 480)',
    ],
    ['the same from an old Asterisk', REPLIED, 19, 'no-answer', 'no answer (cause 19)'],
    [
      'a trunk that does not reply: 408',
      { ...REPLIED, sipStatus: 408 },
      18,
      'no-answer',
      'unreachable (cause 18, SIP 408)',
    ],
    ['the same from an old Asterisk', REPLIED, 18, 'no-answer', 'unreachable (cause 18)'],
    [
      '408 after ringing',
      { ...RANG, ...REPLIED, sipStatus: 408 },
      18,
      'no-answer',
      'no user responding (cause 18, SIP 408)',
    ],
    [
      'a caller who cancels before the answer',
      { inbound: true, ...REPLIED, sipStatus: 487 },
      127,
      'no-answer',
      'given up by the caller (cause 127, SIP 487)',
    ],
    [
      'the same from an old Asterisk',
      { inbound: true, ...REPLIED },
      16,
      'no-answer',
      'given up by the caller (cause 16)',
    ],
    [
      'a caller whom we have refused',
      { inbound: true, cancelled: true },
      34,
      'canceled',
      'congestion (cause 34)',
    ],
    ['a cause that is not known', {}, 99, 'failed', 'ended (cause 99)'],
  ])('%s', (_, known, cause, status, providerStatus) => {
    expect(hangupOutcomeOf(facts(known), cause)).toEqual({ status, providerStatus });
  });

  it('is never anything else than an end, for any cause', () => {
    for (let cause = 0; cause < 256; cause++) {
      expect(hangupOutcomeOf(facts(), cause).status).toMatch(/^(busy|no-answer|failed)$/);
    }
  });
});
