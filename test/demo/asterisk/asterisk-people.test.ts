// The people on an Asterisk's telephones, with a gateway that only says one thing and listens for an answer.
// The demo itself needs the whole gateway: see test/e2e. ASTERISK_URL: a real Asterisk instead.

import { afterEach, describe, expect, it } from 'vitest';
import { sine } from '../../audio/sounds.ts';
import { AriSession, idOf } from '../../fakes/asterisk/scenarios/ari-session.ts';
import { type CallerLine, rms } from '../caller.ts';
import { AsteriskLine } from './asterisk-line.ts';
import { AsteriskPeople } from './asterisk-people.ts';

const APP = 'one-sentence-gateway';
const SPEECH_MS = 600;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function voice(ms: number, hz: number): Int16Array {
  const samples = new Int16Array(ms * 8);
  sine({ hz, levelDbfs: -10 }).fill(samples);
  return samples;
}

/** Says something, and hangs up when it has been answered and it is silent again. */
function converse(line: AsteriskLine): void {
  let heardMs = 0;
  let silentMs = 0;
  line.onFrame = (frame) => {
    const isLoud = rms(frame) > 250;
    heardMs += isLoud ? 20 : 0;
    silentMs = isLoud ? 0 : silentMs + 20;
    if (heardMs > 200 && silentMs === 300) line.hangUp();
  };
  line.say(voice(SPEECH_MS, 400));
}

const answer: CallerLine = {
  when: 'answer',
  afterMs: 300,
  text: 'good morning',
  samples: voice(400, 700),
  keys: '',
};

async function stage() {
  const people = await AsteriskPeople.start(process.env['ASTERISK_URL'] ?? '');
  const { username: user, password, origin: url } = new URL(people.url);
  const account = { url, user, password };
  const gateway = await AriSession.open(account, APP);
  closers.push(
    () => gateway.close(),
    () => people.stop(),
  );
  return { people, account, gateway };
}

describe('people on the telephones of an Asterisk', () => {
  it('ring, wait for the agent to finish, answer by voice, and are hung up on', async () => {
    const { people, account, gateway } = await stage();
    gateway.onEvent((event) => {
      // Media legs enter the application as well.
      const args = event['args'];
      if (!Array.isArray(args) || args[0] !== 'inbound') return;
      void AsteriskLine.open(account, gateway, idOf(event)).then(converse);
    });
    const said: string[] = [];
    const report = await people.ring({
      from: '+15005550101',
      to: '+15005550006',
      app: APP,
      lines: [answer],
      onLine: ({ text }) => said.push(text),
    });
    expect(said).toEqual(['good morning']);
    expect(report.endedBy).toBe('gateway');
    expect(report.facts.linesSaid).toBe(1);
    expect(Math.abs(report.facts.heardSpeechMs - SPEECH_MS)).toBeLessThanOrEqual(40);
  });

  it('are rung, press keys, and hang up', async () => {
    const { people, account, gateway } = await stage();
    const keys = { ...answer, samples: new Int16Array(0), keys: '42#' };
    const held = people.awaitRing({ to: '+15005550102', lines: [keys], onLine: () => undefined });
    const channelId = `gateway-${crypto.randomUUID()}`;
    const query = { endpoint: 'Local/15005550102@pbx-in/n', app: APP, channelId, timeout: '10' };
    await gateway.ask('POST', 'channels', query);
    await gateway.event('StasisStart', channelId);
    const line = await AsteriskLine.open(account, gateway, channelId);
    line.say(voice(SPEECH_MS, 400));
    const digits = (): string =>
      gateway.events.map((event) => String(event['digit'] ?? '')).join('');
    await gateway.until(() => digits().length === 3, 'keys');
    expect(digits()).toBe('42#');
    line.hangUp();
    expect((await held).facts).toMatchObject({ linesSaid: 1 });
  });
});
