// How many statements a call takes from its first webhook or request to the end of its run: on a busy machine each waits for
// its turn at the embedded engine. Events are one statement for all calls every 200 ms, and are left out.

import { describe, expect, it } from 'vitest';
import { runPostCallJob } from '../../src/call/end/after/post-call-job.ts';
import { gatewayModel } from '../fakes/gateway-speech.ts';
import { statementsSent } from '../store/sent-statements.ts';
import { type CallHarness, drinks, withCallHarness } from './call-harness.ts';
import type { Stream } from './stream.ts';

const held = withCallHarness();
/** For so long after its webhook a call is looked for that has no media. */
const WATCHED_MS = 31_000;
const NO_MODEL = gatewayModel(undefined);
const NEVER = new AbortController().signal;

/** What `work` sends, each as its verb and its first table or function, but events. */
async function sentBy(work: () => Promise<unknown>): Promise<string[]> {
  const sent = statementsSent();
  try {
    await work();
  } finally {
    sent.stop();
  }
  return sent.texts.filter((text) => !text.includes('insert into run_events')).map(named);
}

function named(text: string): string {
  const [verb = ''] = text.replace('/* repeatable */ ', '').split(' ', 1);
  const [, table] = /(?:from|update|into) "?(\w+)/.exec(text) ?? [];
  return table === undefined ? verb : `${verb} ${table}`;
}

/** What `work` gives, and what it sends. */
async function counted<T>(work: () => Promise<T>): Promise<{ result: T; sent: string[] }> {
  const results: T[] = [];
  const sent = await sentBy(async () => results.push(await work()));
  const [result] = results;
  if (result === undefined) throw new Error('nothing came of it');
  return { result, sent };
}

/** No time passes while the run is closed, and nothing asks the store whether it is. */
async function talkToTheEnd(harness: CallHarness, media: Stream): Promise<void> {
  const { closing } = harness.deps;
  let isCompleted = false;
  closing.onCompleted = () => {
    isCompleted = true;
  };
  media.start();
  await harness.heardOut(media);
  media.hangUp();
  await harness.until(() => isCompleted);
  closing.onCompleted = undefined;
}

/** One call after which the agent's list has the disposition of the next. */
async function afterOneCall(): Promise<CallHarness> {
  const harness = await held.harness.prepare();
  const { stream } = await harness.inboundCall({ callId: 'CA9' });
  await talkToTheEnd(harness, stream);
  await harness.runs();
  return harness;
}

describe('an inbound call', () => {
  it('takes two statements until its answer, one for its media, and one at its end', async () => {
    const harness = await afterOneCall();
    const answer = await counted(() => harness.ring());
    expect(answer.sent).toEqual(['select phone_numbers', 'with lock_provider_call']);
    const media = await counted(() => harness.connect(answer.result));
    expect(media.sent).toEqual(['update runs']);
    expect(await sentBy(() => talkToTheEnd(harness, media.result))).toEqual([
      'with service_faults',
    ]);
  });
});

it('a call that has ended is looked for by nobody', async () => {
  const harness = await held.harness.prepare();
  const { stream, run } = await harness.inboundCall();
  await talkToTheEnd(harness, stream);
  const sent = await sentBy(async () => {
    harness.clock.advance(WATCHED_MS);
    await harness.pass(20);
  });
  expect(sent.filter((each) => each === 'select runs')).toEqual([]);
  await harness.ended(run);
});

it('a call that talks is looked for by nobody', async () => {
  const harness = await held.harness.prepare();
  const { stream, run } = await harness.inboundCall();
  const sent = await sentBy(async () => {
    harness.clock.advance(WATCHED_MS);
    await harness.pass(20);
  });
  expect(sent.filter((each) => each === 'select runs')).toEqual([]);
  stream.hangUp();
  await harness.ended(run);
});

describe('the work after a call', () => {
  const hook = (data: object) => ({
    id: 'hook',
    type: 'webhook',
    data: { name: 'Hook', endpoint_url: 'https://receiver.example/hook', ...data },
  });
  const nextTo = (data: object) =>
    ({ ...drinks, nodes: [...drinks.nodes, hook(data)] }) as unknown as typeof drinks;

  /** What the webhook after a second call sends: the first one has left the agent's version in this process. */
  async function sentAfter(data: object): Promise<string[]> {
    const harness = await held.harness.prepare(nextTo(data));
    const { deps } = harness;
    const work = async (): Promise<void> => {
      const [job] = await deps.store.afterworks.claim({ limit: 1, except: [], leaseMs: 60_000 });
      if (job === undefined) throw new Error('no work is left');
      await runPostCallJob({ ...deps, ...deps.http, models: NO_MODEL }, job, NEVER);
    };
    for (const callId of ['CA8', 'CA9']) {
      const { stream } = await harness.inboundCall({ callId });
      await talkToTheEnd(harness, stream);
      await harness.runs();
      if (callId === 'CA8') await work();
    }
    return sentBy(work);
  }

  it('takes three statements to its webhook', async () => {
    const sent = await sentAfter({});
    expect(sent).toEqual(['update afterworks', 'select runs', 'with deliveries']);
  });

  it('takes one more to a webhook that may name links', async () => {
    const sent = await sentAfter({ payload_template: { url: '{{transcript_url}}' } });
    expect(sent).toEqual(['update afterworks', 'select runs', 'with runs', 'with deliveries']);
  });
});

describe('a call that a client starts', () => {
  it.each([null, 'order-7'])(
    'with the key %s takes as many statements as without one',
    async (idempotencyKey) => {
      const harness = await afterOneCall();
      const before = await harness.start({});
      await harness.pickUp(before.runId); // This process has its agent's version.
      const started = await counted(() => harness.start({ idempotencyKey }));
      expect(started.sent.toSorted()).toEqual([
        'select phone_numbers', // The configuration.
        'select phone_numbers',
        'select workflows',
        'update runs',
        'with lock_starts',
      ]);
      const { runId } = started.result;
      const report = (status: string, sequence: number) =>
        sentBy(() => harness.status(runId, `CallStatus=${status}&SequenceNumber=${sequence}`));
      const aReport = ['select runs', 'with run_callbacks'];
      expect(await report('ringing', 1)).toEqual(aReport);
      const answer = await counted(() => harness.pickUp(runId));
      expect(answer.sent).toEqual(['select runs', 'update runs']);
      const media = await counted(() => harness.connect(answer.result));
      expect(media.sent).toEqual(['update runs']);
      expect(await report('in-progress', 2)).toEqual(aReport);
      expect(await sentBy(() => talkToTheEnd(harness, media.result))).toEqual([
        'with service_faults',
      ]);
      expect(await report('completed', 3)).toEqual(aReport);
    },
  );
});
