// What an explanation says of runs with too few events or unknown ones, and what it costs.

import { describe, expect, it } from 'vitest';
import { explain } from '../../../src/call/why/explain.ts';
import {
  explainRun,
  FIRST_EVENTS_MAX,
  LAST_EVENTS_MAX,
} from '../../../src/call/why/explain-run.ts';
import type { CallEvent, CallEventBody } from '../../../src/model/call-event.ts';
import { endReason, faultReasons } from '../../../src/model/end-reason.ts';
import type { Run } from '../../../src/model/run.ts';
import { drinks, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();
const TIMED_EVENTS = 2_000;
const ANSWER_MS_MAX = 100;

const run = (more: Partial<Run> = {}): Run =>
  ({
    id: '7',
    mode: 'twilio',
    state: 'completed',
    callType: 'outbound',
    initialContext: {},
    gatheredContext: {},
    logs: {},
    durationS: 3,
    configurationId: '4',
    ...more,
  }) as Run; // The rest is not read.

const log = (...bodies: unknown[]): CallEvent[] =>
  bodies.map((body, index) => ({
    runId: '7',
    seq: index + 1,
    at: 1_700_000_000_000 + index,
    mediaMs: index,
    body: body as CallEventBody,
  }));

const ended = (reason: string) => ({ type: 'call.ended', reason, by: 'gateway', durationS: 3 });
const fault = (code: string, fatal: boolean) => ({ type: 'fault', code, message: 'Odd.', fatal });

describe('an explanation of what nobody foresaw', () => {
  it.each([
    ['a run without events', []],
    ['an end of an unknown reason', log(ended('swallowed_by_a_whale'))],
    ['an event of an unknown type', log({ type: 'whale.seen' }, ended('swallowed_by_a_whale'))],
    ['a start that failed without a fault', log(ended('error'))],
    ['a cancelled call that nobody asked to cancel', log(ended('system_cancelled'))],
    ['a report that says failed alone', log(ended('failed'))],
  ])('%s is unclear, and says what is known', (_what, events) => {
    const why = explain(run(), events);
    expect(why).toMatchObject({ party: 'unknown', isFinal: true });
    expect(why.summary).toMatch(/known|no cause/i);
    expect(why.summary).not.toMatch(/[{}]|undefined|null/);
  });

  it('an unknown fault that ended the call is quoted, and nobody is blamed', () => {
    const why = explain(run(), log(fault('WHALE_SEEN', true), ended('pipeline_error')));
    expect(why).toMatchObject({ party: 'unknown', where: { atMs: 0 } });
    expect(why.summary).toContain('WHALE_SEEN');
  });

  it('an unknown fault beside a good end changes nothing of the verdict', () => {
    const why = explain(run(), log(fault('WHALE_SEEN', false), ended('user_qualified')));
    expect(why).toMatchObject({ party: 'nobody', also: [{ party: 'unknown' }] });
  });

  it('every reason of the contract has a whole sentence, with and without a fault before it', () => {
    for (const reason of endReason.options) {
      for (const events of [log(ended(reason)), log(fault('LLM_FAILED', true), ended(reason))]) {
        const why = explain(run(), events);
        for (const each of [why, ...why.also]) {
          const texts = [each.summary, ...each.advice].join('\n');
          expect(texts, reason).not.toMatch(/\{(?!\{)\w+\}(?!\})|undefined|null|NaN/);
          expect(each.summary.length, reason).toBeGreaterThan(20);
        }
        // A call that a fault ended is not said to be as it should be.
        if (faultReasons.has(reason)) expect(why.party, reason).not.toBe('nobody');
      }
    }
  });

  it('does not depend on the order of faults of one moment', () => {
    const faults = [
      fault('LLM_FAILED', false),
      fault('TTS_FAILED', false),
      fault('STT_FAILED', true),
    ];
    const one = explain(run(), log(...faults, ended('pipeline_error')));
    const other = explain(run(), log(...faults.toReversed(), ended('pipeline_error')));
    const said = (why: typeof one) =>
      [why, ...why.also].map(({ verdict, where }) => `${verdict} ${where.service?.job}`);
    expect(said(one)).toEqual(said(other));
  });
});

it('quotes no words of the conversation', () => {
  const said = {
    type: 'user.turn',
    text: 'my card is 4111',
    source: 'speech',
    confidence: 1,
    nodeId: null,
    nodeName: null,
    startMs: 0,
    endMs: 9,
  };
  const events = log(
    { type: 'media.started', codec: 'pcmu', rateHz: 8_000 },
    said,
    ended('unknown'),
  );
  expect(JSON.stringify(explain(run(), events))).not.toContain('4111');
});

describe('what an explanation costs', () => {
  it('is bounded: of a long log the first and the last events are read', async () => {
    const harness = await held.harness.prepare(drinks);
    const { stream, run: long } = await harness.inboundCall();
    stream.hangUp();
    const done = await harness.ended(long);
    const [first] = await harness.events(long);
    const total = FIRST_EVENTS_MAX + LAST_EVENTS_MAX + 300;
    const { seq: last } = (await harness.events(long)).at(-1) ?? { seq: 0 };
    const more = Array.from({ length: total - last }, (_, nth) => ({
      ...(first as CallEvent),
      seq: last + nth + 1,
      body: { type: 'dtmf', digit: '1' } as const,
    }));
    await harness.at.store.runs.appendEvents(more);
    const why = await explainRun(harness.at.store, done);
    expect(why.events).toEqual({ read: FIRST_EVENTS_MAX + LAST_EVENTS_MAX, total });
  });

  it(`is at most ${ANSWER_MS_MAX} ms for ${TIMED_EVENTS} events`, () => {
    const turn = [
      {
        type: 'node.entered',
        nodeId: 'a',
        nodeName: 'A',
        previousNodeId: null,
        previousNodeName: null,
        allowInterrupt: true,
      },
      {
        type: 'user.turn',
        text: 'yes',
        source: 'speech',
        confidence: 0.9,
        nodeId: 'a',
        nodeName: 'A',
        startMs: 0,
        endMs: 1,
      },
      { type: 'function.called', callId: 'c', name: 'look', arguments: {} },
      {
        type: 'function.returned',
        callId: 'c',
        name: 'look',
        result: '{"status":"error","error":"No.","status_code":500}',
      },
      fault('LLM_TIMEOUT', false),
    ];
    const bodies = Array.from({ length: TIMED_EVENTS / turn.length }, () => turn).flat();
    const events = log(...bodies, ended('user_hangup'));
    explain(run(), events); // Once, so that the code is compiled.
    const startedAt = performance.now();
    const why = explain(run(), events);
    expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS_MAX);
    expect(why.party).toBe('service');
  });
});
