// The connection to Asterisk is lost and comes back, or either side dies: nothing is lost that goes on, what
// has ended is ended, and what belongs to nobody is taken away. Source: asterisk §0.19.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { systemRandom } from '../../../../src/std/random.ts';
import { ReconciliationFaults } from '../../../../src/telephony/ari/connection/reconciliation.ts';
import { createChannelIds } from '../../../../src/telephony/ari/rest/channel-ids.ts';
import { AriSession } from '../../../fakes/asterisk/scenarios/ari-session.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import {
  APP,
  Audio,
  dial,
  gateway,
  isUp,
  kill,
  nothingLeft,
  patient,
  restart,
  rings,
  type Table,
  table,
  talks,
  transferLeg,
  until,
} from '../ari-harness.ts';

/** From now on events are lost on their way; returns what brings the connection back. */
function deaf(at: Table): () => Promise<void> {
  at.asterisk.stasis.tap = () => [];
  return async () => {
    const { length } = at.harness.states;
    at.asterisk.cutEvents();
    await until(() => at.harness.states.length > length, 'the loss');
    at.asterisk.stasis.tap = (event) => [event];
    await isUp(at);
  };
}

/** Whether the id is that of a media channel. */
const isOfLeg = (id: string) => createChannelIds(APP, systemRandom).kindOf(id) === 'm';

function deleted(at: Table): string[] {
  return at.asterisk.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
}

describe('the event socket was lost', () => {
  it('and a call goes on as if nothing had been', async () => {
    const at = await table();
    const { callId, audio, phone } = await talks(at);
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    audio.say(3);
    await until(() => phone.arrivals.length >= 3, 'what was said meanwhile');
    await isUp(at);
    phone.press('7');
    await until(() => audio.digits === '7', 'the key');
    expect(at.harness.of(callId)).toEqual(['in-progress']);
    expect(deleted(at)).toEqual([]);
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });

  it('and a caller left meanwhile', async () => {
    const at = await table();
    const { callId, audio, phone } = await talks(at);
    const hearing = deaf(at);
    phone.hangUp();
    await phone.ended;
    await hearing();
    await until(() => audio.closedWith !== null, 'the end');
    expect(at.harness.of(callId)).toEqual(['in-progress', 'completed']);
    await nothingLeft(at);
  });

  // Nothing else says that the hold is over: the agent waited in silence to the end of the call.
  it('and a caller came back from hold meanwhile', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    phone.hold(true);
    await until(() => audio.outages.length > 0, 'the hold');
    const hearing = deaf(at);
    phone.hold(false);
    await hearing();
    await at.clock.advanceAsync(500);
    expect(audio.outages).toEqual(['held', 'unheld']);
    phone.hold(true);
    await until(() => audio.outages.length > 2, 'another hold');
  });

  // The agent asked into the music, and ended the call for its silence.
  it('and a caller put the call on hold meanwhile', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    const hearing = deaf(at);
    phone.hold(true);
    await hearing();
    await until(() => audio.outages.length > 0, 'the hold');
    phone.hold(false);
    await until(() => audio.outages.length > 1, 'its end');
    expect(audio.outages).toEqual(['held', 'unheld']);
  });

  it('and a caller comes back from hold while the PBX is asked', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    const hearing = deaf(at);
    phone.hold(true);
    at.asterisk.faults.rest = ({ path }) => {
      if (!path.endsWith('/variable')) return undefined;
      phone.hold(false);
      return { status: 200, body: { value: '1' } };
    };
    await hearing();
    await at.clock.advanceAsync(500);
    expect(audio.outages).toEqual([]);
  });

  it.each([
    ['', undefined],
    [', nor one of whom the PBX does not say it', { status: 500, body: null }],
  ])('and a caller who stays on hold is not taken back%s', async (_, answer) => {
    const at = await table();
    const { audio, phone } = await talks(at);
    phone.hold(true);
    await until(() => audio.outages.length > 0, 'the hold');
    at.asterisk.faults.rest = ({ path }) => (path.endsWith('/variable') ? answer : undefined);
    await deaf(at)();
    await at.clock.advanceAsync(500);
    expect(audio.outages).toEqual(['held']);
  });

  it('and a caller began to ring meanwhile', async () => {
    const at = await table();
    const hearing = deaf(at);
    const phone = at.asterisk.placeCall({ from: '5551234', to: '8000' });
    await until(() => at.asterisk.channels.some(({ app }) => app === 'app'), 'the caller');
    await hearing();
    await until(() => at.harness.inbound.length > 0, 'the call');
    expect(at.harness.inbound).toMatchObject([{ from: '5551234', to: '8000' }]);
    const { callId } = at.harness.inbound[0] ?? { callId: '' };
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    audio.close();
    await phone.ended;
    await nothingLeft(at);
  });

  it('and a phone that we dialled was answered meanwhile', async () => {
    const at = await table();
    const callId = await dial(at, 'answer');
    await until(() => at.harness.of(callId).includes('ringing'), 'ringing');
    const hearing = deaf(at);
    await until(() => at.asterisk.phone('answer').isListening, 'the answer');
    await at.clock.advanceAsync(3_000);
    await hearing();
    await until(() => at.harness.answered.length > 0, 'the news');
    expect(at.harness.of(callId)).toEqual(['ringing', 'in-progress']);
    await at.provider.control.hangUp(at.credentials, callId, patient);
    await nothingLeft(at);
  });

  it('while a phone rings: that half of a local call is no caller', async () => {
    const at = await table();
    const callId = await dial(at, 'Local/noanswer@out-dest/n');
    await until(() => at.harness.of(callId).includes('ringing'), 'ringing');
    await deaf(at)();
    await at.clock.advanceAsync(200);
    expect(at.harness.inbound).toEqual([]);
    expect(deleted(at)).toEqual([]);
    await at.provider.control.hangUp(at.credentials, callId, patient);
    await until(() => at.harness.of(callId).includes('canceled'), 'the end');
    await nothingLeft(at);
  });

  it('and a phone that we dialled was busy meanwhile', async () => {
    const at = await table();
    const callId = await dial(at, 'busy');
    const hearing = deaf(at);
    await until(() => at.asterisk.channels.length === 0, 'the end');
    await hearing();
    await until(() => at.harness.of(callId).includes('failed'), 'the news');
  });

  it('while media were being opened, and the pending listener is notified', async () => {
    const at = await table();
    const { call, phone } = await rings(at);
    const hearing = deaf(at);
    const opening = at.connection.openMedia(call.callId, patient);
    await until(() => at.asterisk.media.websockets.some((leg) => leg.isConnected), 'the leg');
    await hearing();
    const audio = new Audio(await opening);
    audio.say(2);
    await until(() => phone.arrivals.length >= 2, 'audio');
    audio.close();
    await nothingLeft(at);
  });

  it('while a transfer destination rang, which has answered meanwhile', async () => {
    const at = await table();
    const { callId, phone } = await talks(at);
    const target = { to: 'answer', callerId: '', ringS: 20 };
    const over = at.provider.control.transfer(at.credentials, callId, target, patient);
    const leg = await transferLeg(at);
    const hearing = deaf(at);
    await until(
      () => at.asterisk.channels.some(({ id, state }) => id === leg && state === 'Up'),
      'the answer',
    );
    await hearing();
    await over;
    expect(phone.isOver).toBe(false);
    phone.hangUp();
    await nothingLeft(at);
  });

  it('and a connected transfer destination has left meanwhile', async () => {
    const at = await table();
    const { callId, phone } = await talks(at);
    const target = { to: 'answer', callerId: '', ringS: 20 };
    await at.provider.control.transfer(at.credentials, callId, target, patient);
    const hearing = deaf(at);
    at.asterisk.phone('answer').hangUp();
    await at.asterisk.phone('answer').ended;
    await hearing();
    await phone.ended;
    await nothingLeft(at);
  });

  it('and Asterisk cannot report the state of a call: that does not end the call', async () => {
    const at = await table();
    const { callId, audio, phone } = await talks(at);
    let asked = 0;
    at.asterisk.faults.rest = ({ method, path }) => {
      if (method !== 'GET' || !path.startsWith('channels/') || asked > 2) return undefined;
      asked += 1;
      return { status: 500, body: { message: 'Internal' } };
    };
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    await isUp(at);
    expect(asked).toBe(3);
    expect(at.harness.of(callId)).toEqual(['in-progress']);
    expect(audio.closedWith).toBeNull();
    phone.hangUp();
    await nothingLeft(at);
  });
});

describe('Asterisk was restarted', () => {
  it('its calls are over, and it is called again when it is back', async () => {
    const at = await table();
    const { callId, audio } = await talks(at);
    await at.asterisk.crash();
    await until(() => audio.closedWith !== null, 'the end of the audio');
    await until(() => at.connection.state.kind === 'down', 'the loss');
    expect(at.connection.state).toMatchObject({ code: 'PBX_UNREACHABLE', isPermanent: false });
    await at.clock.advanceAsync(120_000, 1_000);
    await at.asterisk.start();
    await isUp(at);
    await until(() => at.harness.of(callId).includes('completed'), 'the end');
    const next = await talks(at);
    next.phone.hangUp();
    await until(() => next.audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });
});

describe('the gateway was killed', () => {
  /** The media channels and bridges of the dead gateway are gone. */
  const noLeg = ({ asterisk }: Table) =>
    until(
      () => asterisk.bridgeIds.length === 0 && !asterisk.channels.some(({ id }) => isOfLeg(id)),
      'the end of the media leg',
    );

  it.each([
    ['', true],
    [', also those whose media are still there', false],
  ])('whom it talked to can go on with the next%s', async (_, areMediaGone) => {
    const at = await table();
    const { audio, callId, phone } = await talks(at);
    await kill(at, areMediaGone ? audio : undefined);
    expect(phone.isOver).toBe(false);
    const next = await restart(at);
    await until(() => next.harness.inbound.length > 0, 'the call');
    expect(next.harness.inbound).toMatchObject([{ callId, isLeft: true }]);
    await noLeg(at);
    const again = new Audio(await next.connection.openMedia(callId, patient));
    await until(() => again.starts.length === 1, 'the start');
    const heard = phone.arrivals.length;
    again.say(3);
    phone.say(new Int16Array(1_600).fill(500));
    await until(() => phone.arrivals.length >= heard + 3, 'audio to the caller');
    await until(() => again.frames.length > 3, 'audio of the caller');
    phone.press('7');
    await until(() => again.digits === '7', 'the key');
    expect(phone.isOver).toBe(false);
    expect(next.harness.of(callId)).toEqual([]);
    phone.hangUp();
    await until(() => next.harness.of(callId).includes('completed'), 'the end');
    await nothingLeft(at);
  });

  it('a caller whose media cannot be opened again is hung up, and not sent to the dialplan', async () => {
    const at = await table();
    const { audio, callId, phone } = await talks(at);
    await kill(at, audio);
    const next = await restart(at);
    await until(() => next.harness.inbound.length > 0, 'the call');
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('/externalMedia') ? { status: 500, body: null } : undefined;
    await expect(next.connection.openMedia(callId, patient)).rejects.toThrow();
    await phone.ended;
    expect(at.asterisk.requests.filter(({ path }) => path.endsWith('/continue'))).toEqual([]);
    await nothingLeft(at);
  });

  it('a caller with whom nobody goes on is refused in the middle of the call', async () => {
    const at = await table();
    const { audio, callId, phone } = await talks(at);
    await kill(at, audio);
    const next = await restart(at);
    await until(() => next.harness.inbound.length > 0, 'the call');
    await next.connection.refuse(callId, 'error');
    await phone.ended;
    await nothingLeft(at);
  });

  it('who answered its dial can go on with the next', async () => {
    const at = await table();
    const callId = await dial(at, 'PJSIP/instant@loop', { runId: '123' });
    await until(() => at.harness.answered.length > 0, 'the answer');
    const audio = new Audio(await at.connection.openMedia(callId, patient));
    await kill(at, audio);
    const next = await restart(at);
    await until(() => next.harness.answered.length > 0, 'the call');
    expect(next.harness.answered).toEqual([{ callId, runId: '123', isLeft: true }]);
    await noLeg(at);
    const again = new Audio(await next.connection.openMedia(callId, patient));
    const telephone = at.asterisk.phone('instant');
    const heard = telephone.arrivals.length;
    again.say(3);
    await until(() => telephone.arrivals.length >= heard + 3, 'audio');
    await next.provider.control.hangUp(next.credentials, callId, patient);
    await nothingLeft(at);
  });

  it('who rings is answered by the next', async () => {
    const at = await table();
    const { call } = await rings(at);
    await kill(at);
    const next = await restart(at);
    await until(() => next.harness.inbound.length > 0, 'the call');
    expect(next.harness.inbound).toMatchObject([
      { callId: call.callId, from: '5551234', to: '8000' },
    ]);
    const media = await next.connection.openMedia(call.callId, patient);
    new Audio(media).close();
    await nothingLeft(at);
  });

  it('a phone that it dialled is connected by the next when it is answered', async () => {
    const at = await table();
    const callId = await dial(at, 'PJSIP/answer@loop', { runId: '123' });
    await until(() => at.harness.of(callId).includes('ringing'), 'ringing');
    await kill(at);
    const next = await restart(at);
    await until(() => next.harness.answered.length > 0, 'the answer');
    expect(next.harness.answered).toEqual([{ callId, runId: '123' }]);
    await next.provider.control.hangUp(next.credentials, callId, patient);
    await nothingLeft(at);
  });

  it.each(['the caller', 'the colleague'])(
    'two people whom it brought together talk on, until %s hangs up',
    async (who) => {
      const at = await table();
      const { callId, phone } = await talks(at);
      const target = { to: 'answer', callerId: '', ringS: 20 };
      await at.provider.control.transfer(at.credentials, callId, target, patient);
      await kill(at);
      const next = await restart(at);
      await at.clock.advanceAsync(1_000);
      const colleague = at.asterisk.phone('answer');
      expect([phone.isOver, colleague.isOver]).toEqual([false, false]);
      expect(next.harness.inbound).toEqual([]);
      if (who === 'the caller') phone.hangUp();
      else colleague.hangUp();
      await phone.ended;
      await colleague.ended;
      await nothingLeft(at);
      expect(next.harness.of(callId)).toEqual(['completed']);
    },
  );

  it('a call that it dialled and transferred is not reported as answered', async () => {
    const at = await table();
    const callId = await dial(at, 'Local/instant@out-dest/n');
    await until(() => at.harness.answered.length > 0, 'the answer');
    new Audio(await at.connection.openMedia(callId, patient));
    const target = { to: 'answer', callerId: '', ringS: 20 };
    await at.provider.control.transfer(at.credentials, callId, target, patient);
    await kill(at);
    const next = await restart(at);
    await at.clock.advanceAsync(500);
    expect(next.harness.answered).toEqual([]);
    expect(at.asterisk.phone('instant').isOver).toBe(false);
    at.asterisk.phone('instant').hangUp();
    await nothingLeft(at);
  });

  it('a transfer destination that it had begun to ring is cancelled', async () => {
    const at = await table();
    const { callId, audio, phone } = await talks(at);
    const target = { to: 'noanswer', callerId: '', ringS: 60 };
    at.provider.control.transfer(at.credentials, callId, target, patient).catch(() => undefined);
    const leg = await transferLeg(at);
    await kill(at, audio);
    const next = await restart(at);
    await until(() => next.harness.inbound.length > 0, 'the caller');
    expect(at.asterisk.channels.map(({ id }) => id)).not.toContain(leg);
    phone.hangUp();
    await nothingLeft(at);
  });
});

describe('a call that the gateway dialled goes on in the dialplan', () => {
  async function sentOn() {
    const at = await table({ credentials: { transfer_context: 'agents' } });
    const callId = await dial(at, 'Local/instant@out-dest/n');
    await until(() => at.harness.answered.length > 0, 'the answer');
    new Audio(await at.connection.openMedia(callId, patient));
    const target = { to: '600', callerId: '', ringS: 20 };
    await at.provider.control.transfer(at.credentials, callId, target, patient);
    await until(() => at.harness.of(callId).includes('completed'), 'the end for the gateway');
    return { at, callId };
  }

  it('and is no answered call of a later connection', async () => {
    const { at, callId } = await sentOn();
    const statuses = at.harness.of(callId);
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    await isUp(at);
    await at.clock.advanceAsync(500);
    expect(at.harness.answered).toHaveLength(1);
    expect(at.harness.of(callId)).toEqual(statuses);
    expect(at.asterisk.phone('instant').isOver).toBe(false);
  });

  it('and is not hung up by a gateway that was started after it', async () => {
    const { at, callId } = await sentOn();
    await kill(at);
    const next = await restart(at);
    await at.clock.advanceAsync(500);
    expect(next.harness.answered).toEqual([]);
    await next.provider.control.hangUp(next.credentials, callId, patient);
    expect(at.asterisk.phone('instant').isOver).toBe(false);
  });
});

describe('a hang-up while the PBX cannot be reached', () => {
  it('is no further fault, and is done when the connection is back', async () => {
    const at = await table();
    const { callId, phone } = await talks(at);
    await at.asterisk.loseNetwork();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    await at.provider.control.hangUp(at.credentials, callId, patient);
    expect(phone.isOver).toBe(false);
    await at.asterisk.restoreNetwork();
    await phone.ended;
    await nothingLeft(at);
  });
});

describe('another client takes the application', () => {
  it('that is said and not fought over, and calls go on', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    const account = { url: at.asterisk.url, user: 'gw', password: 'gwsecret' };
    const other = await AriSession.open(account, 'app');
    await until(() => at.connection.state.kind === 'down', 'the news');
    expect(at.connection.state).toMatchObject({ code: 'PBX_APP_TAKEN', isPermanent: true });
    await at.clock.advanceAsync(60_000, 1_000);
    expect(at.harness.states).toHaveLength(2);
    audio.say(2);
    await until(() => phone.arrivals.length >= 2, 'audio');
    other.close();
    await at.clock.advanceAsync(300_000, 2_000);
    await isUp(at);
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });
});

describe('an application that another program has taken', () => {
  it('is connected again within seconds once that program leaves, and not before', async () => {
    const at = await table();
    const other = gateway(at.clock, at.credentials);
    await isUp(other);
    await until(() => at.connection.state.kind === 'down', 'the loss');
    const lostMs = at.clock.monotonicMs();
    await until(() => at.clock.monotonicMs() - lostMs > 60_000, 'a minute');
    expect(other.connection.state.kind).toBe('up');
    expect(at.connection.state).toMatchObject({ code: 'PBX_APP_TAKEN' });
    await other.connection.close();
    const leftMs = at.clock.monotonicMs();
    await isUp(at);
    expect(at.clock.monotonicMs() - leftMs).toBeLessThan(10_000);
  });
});

describe('a PBX that connects again and again, and refuses every request', () => {
  it('leaves one line for each fault in a minute', () => {
    const clock = new FakeClock();
    const { log, lines } = quietLog();
    const faults = new ReconciliationFaults();
    const warnings = () => lines().filter(({ level }) => level === 'warn').length;
    const refused = () => new GatewayError('PROVIDER_AUTH', { provider: 'ari', action: 'info' });
    for (let times = 0; times < 10; times++) {
      faults.note({ clock, log }, refused());
      clock.advance(400);
    }
    expect(warnings()).toBe(1);
    faults.note({ clock, log }, new GatewayError('PBX_READ_ONLY'));
    expect(warnings()).toBe(2);
    faults.note({ clock, log }, refused());
    clock.advance(60_000);
    faults.note({ clock, log }, refused());
    expect(warnings()).toBe(4);
  });
});
