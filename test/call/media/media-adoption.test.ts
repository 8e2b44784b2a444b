// Calls that one gateway answers and whose media come to another. Source: contract §7.4.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TOKEN_MS } from '../../../src/call/start/call-preparation.ts';
import { mediaAdopted } from '../../../src/metrics/metrics.ts';
import { CLOCK_SKEW_MS_MAX } from '../../../src/transport/media-token-store.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import {
  type CallHarness,
  GREETING,
  mediaUrlIn,
  pathOf,
  signatureOf,
  twilioAnswers,
  withCallHarness,
} from '../call-harness.ts';
import { withSecondGateway } from '../second-gateway.ts';

const held = withCallHarness();
const second = withSecondGateway();

async function two(content?: Parameters<CallHarness['prepare']>[0]) {
  const one = await held.harness.prepare(content);
  mediaAdopted.reset();
  return { one, other: await second.beside(one) };
}

async function knock(harness: CallHarness, url: string, signature = signatureOf(url)) {
  const admission = await harness.callControl.admit(pathOf(url), {
    'x-twilio-signature': signature,
  });
  return 'refuse' in admission ? admission.refuse : 'in';
}

const adopted = async () =>
  (await mediaAdopted.get()).values.map(({ labels, value }) => [labels.source, value]);

/** The events' types and numbers as they are stored. */
async function stored(harness: CallHarness, id: string) {
  const events = await harness.events({ id });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, nth) => nth + 1));
  return events.map(({ body }) => body.type);
}

const ownerOf = (harness: CallHarness, id: string) => harness.deps.store.runs.owner(id);

describe('a call whose media come to another gateway', () => {
  it('talks there when it was inbound', async () => {
    const { one, other } = await two();
    const url = mediaUrlIn(await one.ring());
    const { runId } = pathOf(url);
    const stream = await other.connectTo(url);
    stream.start();
    await other.heardOut(stream);
    expect(other.tts.asked.join(' ')).toBe(GREETING);
    expect(await ownerOf(other, runId)).toMatchObject({ isOwn: true });
    expect(await adopted()).toEqual([['gateway', 1]]);
    await other.says(stream, 'tea');
    await other.heardOut(stream);
    expect(await other.ended({ id: runId })).toMatchObject({
      gatheredContext: { extracted_variables: { drink: 'tea' } },
    });
    await one.deps.events.flush();
    const types = await stored(other, runId);
    expect(types[0]).toBe('call.created');
    expect(types.filter((type) => type === 'call.created')).toHaveLength(1);
  });

  it('talks there when it was outbound, wherever its answer was asked for', async () => {
    const { one, other } = await two();
    await one.addNumber('+14155550102', { isDefaultCallerId: true });
    const { runId } = await one.start();
    // The second gateway answers, the media come to the first again.
    const url = mediaUrlIn(await other.pickUp(runId));
    expect(pathOf(url).token).toMatch(/^gw2\.1-/);
    expect(await ownerOf(other, runId)).toMatchObject({ isOwn: true });
    const stream = await one.connectTo(url);
    stream.start();
    await one.heardOut(stream);
    expect(one.tts.asked.join(' ')).toBe(GREETING);
    expect(await ownerOf(one, runId)).toMatchObject({ isOwn: true });
    const types = await stored(one, runId);
    expect(types.filter((type) => type === 'call.created')).toHaveLength(1);
  });

  it('is refused with 4409 a second time, and with 4401 by a forged or expired token', async () => {
    const { one, other } = await two();
    const url = mediaUrlIn(await one.ring());
    expect(
      await knock(
        other,
        url.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
      ),
    ).toBe(4401);
    await other.connectTo(url);
    expect(await knock(other, url)).toBe(4409);
    expect(await knock(one, url)).toBe(4409);
    const late = mediaUrlIn(await one.ring('CallSid=CA2'));
    await one.pass(TOKEN_MS + CLOCK_SKEW_MS_MAX + 1_000);
    expect(await knock(other, late)).toBe(4401);
  });

  it('stays where it is if the socket is not signed by the provider', async () => {
    const { one, other } = await two();
    const url = mediaUrlIn(await one.ring());
    expect(await knock(other, url, 'wrong')).toBe(4401);
    expect(await ownerOf(one, pathOf(url).runId)).toMatchObject({ isOwn: true });
    await one.connectTo(url);
    expect(one.callControl.activeCalls).toBe(1);
  });

  it('is admitted by one gateway if both get a socket at once', async () => {
    const { one, other } = await two();
    const url = mediaUrlIn(await one.ring());
    const results = await Promise.all([knock(one, url), knock(other, url), knock(other, url)]);
    expect(results.filter((result) => result === 'in')).toHaveLength(1);
    expect(results.filter((result) => result === 4409 || result === 4404)).toHaveLength(2);
    await held.harness.callControl.drain(0);
    await other.callControl.drain(0);
  });

  it('is not there when its run is completed, or gone', async () => {
    const { one, other } = await two();
    const url = mediaUrlIn(await one.ring());
    await one.status(pathOf(url).runId, 'CallStatus=canceled&SequenceNumber=1');
    expect(await knock(other, url)).toBe(4409);
    const gone = mediaUrlIn(await one.ring('CallSid=CA2'));
    await one.at.sql('delete from runs where id = $1', [pathOf(gone).runId]);
    expect(await knock(other, gone)).toBe(4404);
  });

  it('is planned again by the process that issued the token, if it has lost the plan', async () => {
    const { one } = await two();
    const url = mediaUrlIn(await one.ring());
    one.callControl.noteAdopted(pathOf(url).runId);
    const stream = await one.connectTo(url);
    stream.start();
    await one.heardOut(stream);
    expect(one.tts.asked.join(' ')).toBe(GREETING);
    expect(await adopted()).toEqual([['worker', 1]]);
  });
});

describe('the former owner of an adopted call', () => {
  it('drops it when it is told, and does not hang it up when it stops', async () => {
    const { one, other } = await two();
    const notes: unknown[] = [];
    other.callControl.onAdopted = (call) => void notes.push(call);
    const url = mediaUrlIn(await one.ring());
    const { runId } = pathOf(url);
    await other.connectTo(url);
    expect(notes).toEqual([{ runId, from: one.at.store.node }]);
    expect(one.callControl.calls).toBe(1);
    one.callControl.noteAdopted(runId);
    expect(one.callControl.calls).toBe(0);
    await one.callControl.drain(0);
    expect(one.hangUps).toEqual([]);
    expect((await other.run(runId)).state).toBe('running');
  });

  it('drops it within seconds when it is not told', async () => {
    const { one, other } = await two();
    await one.callControl.startJobs({ hasPbxs: false, isShared: true });
    const url = mediaUrlIn(await one.ring());
    const waiting = mediaUrlIn(await one.ring('CallSid=CA2'));
    await other.connectTo(url);
    await one.pass(2_100);
    await one.until(() => one.callControl.calls === 1);
    // The other one still waits.
    await one.connectTo(waiting);
    expect(one.callControl.activeCalls).toBe(1);
  });

  it('does not end it when it stops before it has noticed, or looks after it', async () => {
    const { one, other } = await two();
    const url = mediaUrlIn(await one.ring());
    const { runId } = pathOf(url);
    await one.at.sql("update runs set owner_node = 'elsewhere' where id = $1", [runId]);
    await one.pass(31_000); // Its watchdog looks.
    await one.callControl.drain(0);
    expect(one.hangUps).toEqual([]);
    expect((await one.run(runId)).state).toBe('initialized');
    await one.at.sql('update runs set owner_node = $1 where id = $2', [one.at.store.node, runId]);
    await other.connectTo(url);
    expect((await one.run(runId)).state).toBe('running');
  });

  it('does not end it when the answer to its dial is lost', async () => {
    const { one, other } = await two();
    await one.addNumber('+14155550102', { isDefaultCallerId: true });
    one.rest.answer = 'hang';
    const dialled = one.rest.next();
    const starting = one.start().catch((error: unknown) => error);
    await dialled;
    const [run] = await one.runs();
    const { id } = run ?? { id: '' };
    one.rest.answer = twilioAnswers;
    const stream = await other.connectTo(mediaUrlIn(await other.pickUp(id)));
    stream.start();
    await one.pass(16_000);
    await starting;
    expect(one.hangUps).toEqual([]);
    expect((await other.run(id)).state).toBe('running');
  });

  it('writes no event into its log any more, and stores what the provider says of it', async () => {
    const { one, other } = await two();
    await one.addNumber('+14155550102', { isDefaultCallerId: true });
    const { runId } = await one.start();
    await one.deps.events.flush();
    const url = mediaUrlIn(await other.pickUp(runId));
    // The first gateway still believes that it has the call.
    await one.status(runId, 'CallStatus=ringing&SequenceNumber=1');
    await one.deps.events.flush();
    const stream = await other.connectTo(url);
    stream.start();
    await one.status(runId, 'CallStatus=in-progress&SequenceNumber=2');
    await one.deps.events.flush();
    await other.heardOut(stream);
    const types = await stored(other, runId);
    expect(types).not.toContain('call.status');
    const { gatheredContext } = await other.run(runId);
    expect(gatheredContext['provider_status']).toBe('in-progress');
    expect(one.callControl.calls).toBe(0);
  });
});

describe('variables before an adopted call', () => {
  let crm: RestServer;
  beforeAll(async () => {
    crm = await startRestServer();
  });
  beforeEach(() => {
    crm.asked.length = 0;
  });
  afterAll(() => crm.close());

  const content = () => {
    const first = start('talk', {
      name: 'Talk',
      greeting: 'Hello {{customer | stranger}}.',
      pre_call_fetch_mode: 'always',
      pre_call_fetch_url: `${crm.url}/lookup`,
    });
    return definition([first, end('bye')], [edge('talk', 'bye')]);
  };
  const ana = { status: 200, body: { dynamic_variables: { customer: 'Ana' } } };

  async function greeted(harness: CallHarness, url: string): Promise<string | undefined> {
    const stream = await harness.connectTo(url);
    stream.start();
    await harness.passThrough(() => harness.tts.asked.length > 0);
    return harness.tts.asked.at(-1);
  }

  it('are those that the first gateway has fetched', async () => {
    crm.answer = ana;
    const { one, other } = await two(content());
    const url = mediaUrlIn(await one.ring());
    const { runId } = pathOf(url);
    await one.until(async () => (await one.run(runId)).initialContext['customer'] === 'Ana');
    expect(await greeted(other, url)).toBe('Hello Ana.');
    expect(crm.asked).toHaveLength(1);
    expect((await one.run(runId)).logs['pre_call_fetch']).toEqual({ status: 'ok' });
  });

  it('are waited for while the first gateway fetches them', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { one, other } = await two(content());
    const { outside } = one.deps.http;
    one.deps.http.outside = {
      ...outside,
      send: async (...request) => {
        await answered;
        return outside.send(...request);
      },
    };
    crm.answer = ana;
    const url = mediaUrlIn(await one.ring());
    const stream = await other.connectTo(url);
    stream.start();
    await other.pass(1_000);
    expect(other.tts.asked).toEqual([]);
    answer();
    await other.passThrough(() => other.tts.asked.length > 0);
    expect(other.tts.asked.at(-1)).toBe('Hello Ana.');
    expect(crm.asked).toHaveLength(1);
  });

  it('are not fetched again after a failure, which the run records once', async () => {
    crm.answer = { status: 500, body: {} };
    const { one, other } = await two(content());
    const url = mediaUrlIn(await one.ring());
    const { runId } = pathOf(url);
    await one.until(async () => (await one.bodies({ id: runId }, 'fault')).length > 0);
    expect(await greeted(other, url)).toBe('Hello stranger.');
    expect(crm.asked).toHaveLength(1);
    const faults = await other.bodies({ id: runId }, 'fault');
    expect(faults.map(({ code }) => code)).toEqual(['PRE_CALL_FETCH_FAILED']);
  });

  it('are missing if the first gateway died before they came, after ten seconds and some', async () => {
    const { one, other } = await two(content());
    const { outside } = one.deps.http;
    one.deps.http.outside = { ...outside, send: () => new Promise(() => undefined) };
    one.deps.store.runs.noteFetched = () => new Promise(() => undefined);
    const url = mediaUrlIn(await one.ring());
    const { runId } = pathOf(url);
    const stream = await other.connectTo(url);
    stream.start();
    await other.pass(9_000);
    expect(other.tts.asked).toEqual([]);
    await other.passThrough(() => other.tts.asked.length > 0);
    expect(other.tts.asked.at(-1)).toBe('Hello stranger.');
    expect(crm.asked).toHaveLength(0);
    const faults = await other.bodies({ id: runId }, 'fault');
    expect(faults.map(({ code }) => code)).toEqual(['PRE_CALL_FETCH_FAILED']);
  });
});
