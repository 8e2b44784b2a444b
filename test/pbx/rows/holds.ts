// Rows: the caller puts the call on hold; the caller's audio cannot be opened.

import { download } from '../../demo/api-client.ts';
import { EXTENSIONS, IDLE_S, LONG_S } from '../agents.ts';
import { CALLER, GROUP_CONTEXT, MEDIA_MODULE, OUT_CONTEXT } from '../asterisk-side.ts';
import { soundOf } from '../rtp-end.ts';
import type { Caller } from '../sip-client.ts';
import { DIRECT, type Stage } from '../stage.ts';
import { pause, until } from '../waiting.ts';
import { callerFrames, finish, hearTone } from './conversations.ts';
import { check, millis, type Row, seconds } from './row.ts';

/** Milliseconds of the clip before the call is put on hold. */
const HEARD_MS = 2_000;
const HELD_MS = (IDLE_S + 6) * 1_000;
/** A frame or two may be lost at each cut. */
const LOST_MS_MAX = 600;
/** Music that got into the recording. */
const FOREIGN_FRAMES_MAX = 5;

const hold: Row = {
  feature: 'hold and resume',
  async run(stage) {
    const caller = await stage.callIn(EXTENSIONS.long);
    await caller.answered();
    return await heldAndResumed(stage, caller);
  },
};

/** The called party, behind a Local channel as FreePBX dials it. */
const holdBehindLocal: Row = {
  feature: 'hold and resume behind Local',
  run: (stage) => heldBehind(stage, `Local/{number}@${OUT_CONTEXT}/n`),
};

/** Behind one that a ring group dials. */
const holdBehindGroup: Row = {
  feature: 'hold and resume behind a ring group',
  skips: ({ mode }) => (mode === 'server' ? undefined : 'the same in all modes'),
  run: (stage) => heldBehind(stage, `Local/{number}@${GROUP_CONTEXT}/n`),
};

async function heldBehind(stage: Stage, template: string): Promise<string> {
  await stage.change({ dial_template: template });
  try {
    const callee = await stage.callee('answers');
    await stage.api.startCall(stage.agents.long.uuid, { phone_number: callee.number });
    await callee.invited();
    return await heldAndResumed(stage, callee);
  } finally {
    await stage.change({ dial_template: DIRECT });
  }
}

async function heldAndResumed(
  stage: Stage,
  telephone: Pick<Caller, 'rtp' | 'hold' | 'released'>,
): Promise<string> {
  const { long } = stage.agents;
  const { rtp } = telephone;
  await hearTone(rtp, 0, HEARD_MS);
  const runId = await stage.lastRunId(long);
  await telephone.hold(true);
  await pause(HELD_MS);
  await telephone.hold(false);
  const wholeMs = LONG_S * 1_000 - LOST_MS_MAX;
  const isWhole = () => rtp.totalMs('tone', 0) >= wholeMs;
  await until('the agent has said everything', LONG_S * 1_000 + 5_000, isWhole).catch(() => {
    const heardMs = rtp.totalMs('tone', 0);
    check(false, `only ${seconds(heardMs)} of ${LONG_S} s of the agent were heard`);
  });
  await finish({ rtp, released: (msMax) => telephone.released(msMax) });
  const run = await stage.completed(long, runId);
  const transcript = (await download(run.transcript_url ?? '')).toString('utf8');
  const held = /system: on hold for (\d+) s/.exec(transcript)?.[1];
  check(Math.abs(Number(held) * 1_000 - HELD_MS) <= 1_500, `transcript: ${transcript}`);
  const said = transcript.match(/assistant: .*/g) ?? [];
  check(
    said.every((line) => /A tone\.|Goodbye\./.test(line)),
    `the agent said: ${said.join(' | ')}`,
  );
  const frames = callerFrames(await download(run.recording_url ?? '')).map(soundOf);
  const foreign = frames.filter(({ sound }) => sound === 'other').length;
  check(foreign <= FOREIGN_FRAMES_MAX, `${foreign} frames of the recording have the PBX's music`);
  return `on hold for ${held} s, then all ${LONG_S} s of the agent`;
}

const AWAY_MS_MAX = 15_000;

const away: Row = {
  feature: 'no audio: away',
  async run(stage) {
    const module = MEDIA_MODULE[stage.mode];
    await stage.pbx.unload(module);
    try {
      const caller = await stage.callIn(EXTENSIONS.short);
      const calledMs = performance.now();
      const reached = await until('the dialplan goes on at away', AWAY_MS_MAX, async () => {
        const channels = await stage.pbx.channels();
        return channels.some(
          ({ name, dialplan }) =>
            name.startsWith(`PJSIP/${CALLER}-`) && dialplan.app_name === 'Congestion',
        );
      });
      const ms = performance.now() - calledMs;
      check(reached, 'away was not reached');
      await caller.hangUp();
      const runId = await stage.lastRunId(stage.agents.short);
      const run = await stage.completed(stage.agents.short, runId);
      const reason = String(run.gathered_context?.['error'] ?? '');
      check(reason !== '', 'the run has no reason');
      return `after ${millis(ms)}: ${reason}`;
    } finally {
      await stage.pbx.load(module);
    }
  },
};

export const holds: readonly Row[] = [hold, holdBehindLocal, holdBehindGroup, away];
