// Rows: transfers, cold and warm, and the music while the caller waits.

import { EXTENSIONS, NOBODY, transferAgent } from '../agents.ts';
import { QUEUE_CONTEXT } from '../asterisk-side.ts';
import type { RtpEnd } from '../rtp-end.ts';
import type { Callee, Caller } from '../sip-client.ts';
import type { Stage } from '../stage.ts';
import { pause, until } from '../waiting.ts';
import { hearTone } from './conversations.ts';
import { check, type Row, seconds } from './row.ts';

const SOUND_MS_MAX = 20_000;
const MESSAGE_MS = 500;
const MUSIC_MS = 1_000;
const TONE_MS = 500;
const END_MS_MAX = 20_000;

interface Transfer {
  caller: Caller;
  callee: Callee;
  agentId: string;
  runId: string;
}

/** The caller has asked for the transfer, and the destination is connected. */
async function transfer(stage: Stage, isWarm: boolean): Promise<Transfer> {
  const callee = await stage.callee('answers');
  const agent = await transferAgent(stage.api, {
    destination: callee.number,
    isWarm,
    modelUrl: stage.model.baseUrl,
  });
  const caller = await stage.callIn(await stage.giveExtension(agent));
  await caller.answered();
  await heard('the greeting', caller.rtp, 0);
  await quiet(caller.rtp);
  const runId = await stage.lastRunId(agent);
  caller.rtp.press('1');
  await callee.invited(SOUND_MS_MAX);
  return { caller, callee, agentId: agent.id, runId };
}

async function heard(what: string, rtp: RtpEnd, sinceMs: number): Promise<void> {
  const isHeard = () => rtp.totalMs('other', sinceMs) >= MESSAGE_MS / 2;
  await until(`${what} is heard`, SOUND_MS_MAX, isHeard);
}

async function quiet({ heard: frames }: RtpEnd): Promise<void> {
  await until('the agent has finished', SOUND_MS_MAX, () => {
    const last = frames.findLast(({ sound }) => sound !== 'silence');
    return last !== undefined && last.atMs < performance.now() - 500;
  });
}

/** Each of the two hears the other. */
async function connected({ caller, callee }: Transfer): Promise<void> {
  for (const [from, to] of [
    [caller, callee],
    [callee, caller],
  ] as const) {
    const sinceMs = performance.now();
    from.rtp.play(true);
    const isHeard = () => to.rtp.totalMs('tone', sinceMs) >= TONE_MS;
    await until('the two are connected', SOUND_MS_MAX, isHeard);
    from.rtp.play(false);
  }
}

/** The destination hangs up: nobody is left behind. */
async function over(stage: Stage, { caller, callee, agentId, runId }: Transfer): Promise<void> {
  await callee.hangUp();
  await caller.released(END_MS_MAX);
  const run = await stage.completed({ id: agentId, uuid: '' }, runId);
  check(run.disposition === 'transfer_call', `its disposition is ${run.disposition}`);
}

const cold: Row = {
  feature: 'transfer, cold',
  async run(stage) {
    const both = await transfer(stage, false);
    await connected(both);
    await over(stage, both);
    return 'caller and destination connected';
  },
};

const warm: Row = {
  feature: 'transfer, warm',
  async run(stage) {
    const both = await transfer(stage, true);
    await heard('the message', both.callee.rtp, 0);
    await quiet(both.callee.rtp);
    both.callee.rtp.press('1');
    await connected(both);
    await over(stage, both);
    return 'message, key, caller and destination connected';
  },
};

const music: Row = {
  feature: 'music on hold, transfer refused',
  async run(stage) {
    const both = await transfer(stage, true);
    const { caller, callee } = both;
    const waitsMs = performance.now();
    await heard('the message', callee.rtp, 0);
    const isMusic = () => caller.rtp.totalMs('other', waitsMs) >= MUSIC_MS;
    await until('the caller hears music', SOUND_MS_MAX, isMusic);
    callee.rtp.press('*');
    await callee.released(END_MS_MAX);
    const backMs = performance.now() + MESSAGE_MS;
    await pause(MESSAGE_MS);
    await heard(NOBODY, caller.rtp, backMs);
    const first = caller.rtp.firstMs('other', waitsMs) ?? waitsMs;
    return `music after ${seconds(first - waitsMs)}, then the agent again`;
  },
};

/** The colleague who has answered passes the agent's call on by the transfer key of the telephone. */
const byTelephone: Row = {
  feature: 'transfer by the telephone',
  async run(stage) {
    const { long } = stage.agents;
    const callee = await stage.callee('answers');
    const caller = await stage.callIn(EXTENSIONS.long, callee.number.slice(1));
    await caller.answered();
    await hearTone(caller.rtp, 0, TONE_MS);
    const runId = await stage.lastRunId(long);
    const sinceMs = performance.now();
    await caller.transfer();
    await callee.invited(SOUND_MS_MAX);
    const firstMs = await hearTone(callee.rtp, sinceMs, TONE_MS);
    await caller.hangUp();
    await hearTone(callee.rtp, performance.now(), TONE_MS);
    const run = await stage.api.run(long.id, runId);
    check(!run.is_completed, 'the run has ended with the first telephone');
    callee.rtp.press('1');
    await callee.released(END_MS_MAX);
    await stage.completed(long, runId);
    return `the other telephone hears the agent after ${seconds(firstMs - sinceMs)}`;
  },
};

/** The caller is transferred to a queue of the dialplan, which sends them back: the next leg of the call. */
const back: Row = {
  feature: 'transfer to a queue, and back',
  async run(stage) {
    const queued = (transferContext: string) =>
      stage.api.updateConfiguration(stage.configurationId, { transfer_context: transferContext });
    await queued(QUEUE_CONTEXT);
    try {
      const agent = await transferAgent(stage.api, {
        destination: '700',
        isWarm: false,
        modelUrl: stage.model.baseUrl,
      });
      const extension = await stage.giveExtension(agent);
      const caller = await stage.callIn(extension);
      await caller.answered();
      await heard('the greeting', caller.rtp, 0);
      await quiet(caller.rtp);
      const firstId = await stage.lastRunId(agent);
      caller.rtp.press('1');
      const sinceMs = performance.now();
      const first = await stage.completed(agent, firstId);
      check(first.disposition === 'transfer_call', `its disposition is ${first.disposition}`);
      await heard('the greeting of the next leg', caller.rtp, sinceMs);
      const ms = (caller.rtp.firstMs('other', sinceMs) ?? sinceMs) - sinceMs;
      const secondId = await stage.lastRunId(agent);
      await caller.hangUp();
      const second = await stage.completed(agent, secondId);
      check(second.disposition === 'user_hangup', `the end is ${second.disposition}`);
      const before = second.gathered_context?.['previous_run_id'];
      check(before === firstId, `the next leg follows ${String(before)}, not ${firstId}`);
      return `the agent answers again ${seconds(ms)} after the key`;
    } finally {
      await stage.change({ transfer_context: '' });
    }
  },
};

export const transfers: readonly Row[] = [cold, warm, music, byTelephone, back];
