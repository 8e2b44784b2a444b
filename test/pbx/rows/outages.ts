// Rows: the network between the gateway and the PBX is interrupted; another program takes the application.

import { download } from '../../demo/api-client.ts';
import { AriSession } from '../../fakes/asterisk/scenarios/ari-session.ts';
import { EXTENSIONS, LONG_S } from '../agents.ts';
import type { Caller } from '../sip-client.ts';
import type { Stage } from '../stage.ts';
import { pause, until } from '../waiting.ts';
import { finish, hearTone } from './conversations.ts';
import { check, type Row, seconds } from './row.ts';

const LINE = 'Sorry, the line was interrupted.';
const HEARD_MS = 2_000;
const RESET_MS = 3_000;
const MEDIA_MS = 4_000;
/** Milliseconds that must be unbroken of what the telephone plays in 3 s. */
const UNBROKEN_MS = 2_500;
const BACK_MS_MAX = 10_000;
const SPOKEN_MS_MIN = 500;
/** Audio that was under way in a connection that is reset is lost: the gateway's lead, and one event to notice it. */
const LOST_MS_MAX = 1_500;
const TAKEN_MS_MAX = 20_000;
const FREE_MS_MAX = 15_000;
/** Longer than the gateway's pause between two looks for its application. */
const STILL_TAKEN_MS = 8_000;

async function longCall(stage: Stage): Promise<{ caller: Caller; runId: string }> {
  const caller = await stage.callIn(EXTENSIONS.long);
  await caller.answered();
  await hearTone(caller.rtp, 0, HEARD_MS);
  return { caller, runId: await stage.lastRunId(stage.agents.long) };
}

/** The rest of the clip, and the end; what was said besides. */
async function restOf(
  stage: Stage,
  { caller, runId }: { caller: Caller; runId: string },
): Promise<{ lostMs: number; transcript: string }> {
  const wholeMs = LONG_S * 1_000;
  const isWhole = () => caller.rtp.totalMs('tone', 0) >= wholeMs - LOST_MS_MAX;
  await until('the agent has said everything', wholeMs + BACK_MS_MAX, isWhole);
  await pause(LOST_MS_MAX);
  const lostMs = wholeMs - caller.rtp.totalMs('tone', 0);
  await finish({ rtp: caller.rtp, released: (msMax) => caller.released(msMax) });
  const run = await stage.completed(stage.agents.long, runId);
  const transcript = (await download(run.transcript_url ?? '')).toString('utf8');
  return { lostMs, transcript };
}

const reset: Row = {
  feature: 'all sockets reset for 3 s',
  async run(stage) {
    const call = await longCall(stage);
    const { rtp } = call.caller;
    const lostAtMs = performance.now();
    await stage.interrupt('all');
    await pause(RESET_MS);
    const backAtMs = performance.now();
    await stage.interrupt('none');
    if (stage.mode === 'rtp') {
      const ms = rtp.totalMs('tone', lostAtMs, backAtMs);
      check(ms >= UNBROKEN_MS, `only ${seconds(ms)} of 3 s were heard`);
      await restOf(stage, call);
      return 'audio over UDP goes on, and so does the call';
    }
    const isBack = () => rtp.firstMs('tone', backAtMs) !== undefined;
    await until('the agent goes on', BACK_MS_MAX, isBack);
    const resumedMs = (rtp.firstMs('tone', backAtMs) ?? 0) - backAtMs;
    const spokenMs = rtp.totalMs('other', backAtMs);
    const { lostMs, transcript } = await restOf(stage, call);
    check(transcript.includes(LINE), `no explanation in the transcript: ${transcript}`);
    check(spokenMs >= SPOKEN_MS_MIN, 'the explanation was not heard');
    return `explained, resumed after ${seconds(resumedMs)}, ${seconds(lostMs)} not heard`;
  },
};

const media: Row = {
  feature: 'audio alone lost for 4 s',
  skips: ({ mode }) => (mode === 'rtp' ? 'UDP has no connection' : undefined),
  async run(stage) {
    const call = await longCall(stage);
    const { rtp } = call.caller;
    const lostAtMs = performance.now();
    await stage.interrupt('media');
    await pause(MEDIA_MS);
    const backAtMs = performance.now();
    await stage.interrupt('none');
    const musicMs = rtp.heard.find(
      ({ sound, atMs }) => sound === 'other' && atMs > lostAtMs && atMs < backAtMs,
    )?.atMs;
    check(musicMs !== undefined, 'the caller heard no music');
    const { transcript } = await restOf(stage, call);
    check(!transcript.includes(LINE), 'the outage was explained twice, by music and words');
    return `music after ${seconds(musicMs - lostAtMs)}, resumed`;
  },
};

const application: Row = {
  feature: 'application taken and free again',
  async run(stage) {
    const other = await AriSession.open(stage.pbx.account, stage.app);
    const reasonOf = () => stage.api.inactiveReason(stage.configurationId);
    try {
      await until('the gateway notices', TAKEN_MS_MAX, async () => (await reasonOf()) !== null);
    } finally {
      other.close();
    }
    let freeAtMs = performance.now();
    if (stage.mode === 'incoming') {
      // Asterisk gives it to no connection that it has opened itself: only a new session gets it.
      await pause(STILL_TAKEN_MS);
      const reason = await reasonOf();
      check(reason?.includes('ari start outbound-websocket') === true, `the reason is ${reason}`);
      freeAtMs = performance.now();
      await stage.pbx.restartConnection();
    }
    await until('the gateway is back', FREE_MS_MAX, async () => (await reasonOf()) === null);
    const ms = performance.now() - freeAtMs;
    const caller = await stage.callIn(EXTENSIONS.short);
    await caller.answered();
    await hearTone(caller.rtp, 0);
    return `back after ${seconds(ms)}`;
  },
};

export const outages: readonly Row[] = [reset, media, application];
