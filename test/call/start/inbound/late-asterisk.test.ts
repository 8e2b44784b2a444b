// A long utterance over an Asterisk that misses beats of its timer, by the real connector and pipeline: real
// ones were found with 200 to 400 frames in their queue after half a minute, and a caller who cut in then
// was taken to have heard them. Source: asterisk §0.11.

import { describe, expect, it } from 'vitest';
import { codecByName } from '../../../../src/codec/registry.ts';
import { CallAudio } from '../../../../src/pipeline/call-audio.ts';
import type { UtteranceReport } from '../../../../src/pipeline/call-audio-event.ts';
import { MediaClock } from '../../../../src/pipeline/media-clock.ts';
import { defaultTuning } from '../../../../src/pipeline/turn/turn-tuning.ts';
import type { MediaSession, MediaStart } from '../../../../src/telephony/provider/media-session.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { FakeTts, hum, loudnessVad } from '../../../fakes/speech-services.ts';
import {
  legOf,
  nothingLeft,
  patient,
  rings,
  type Table,
  table,
  until,
} from '../../../telephony/ari/ari-harness.ts';

const SECONDS = 20;
const CLIP = hum(SECONDS * 1_000, 8_000);

interface Spoken {
  audio: CallAudio | undefined;
  reports: UtteranceReport[];
}

/** A clip of twenty seconds is played into a call. */
function speaks(at: Table, media: MediaSession): Spoken {
  const { clock } = at;
  const { log } = quietLog();
  const mediaClock = new MediaClock(clock);
  const spoken: Spoken = { audio: undefined, reports: [] };
  const open = ({ codecIn, codecOut }: MediaStart): CallAudio => {
    const { lead, marks } = media.traits;
    return new CallAudio({
      clock,
      mediaClock,
      codecIn: codecByName(codecIn),
      codecOut: codecByName(codecOut),
      wire: media,
      lead,
      marks,
      vad: loudnessVad(),
      stt: undefined,
      tts: new FakeTts(clock),
      voice: undefined,
      recording: undefined,
      tuning: defaultTuning,
      log,
      onEvent: (event) => {
        if (event.type === 'utterance-finished') spoken.reports.push(event.report);
        if (event.type === 'broken') expect.fail(String(event.error));
      },
    });
  };
  media.attach({
    onAudio: (payload, timestampMs) => spoken.audio?.audioIn(payload, timestampMs),
    onEvent: (event) => {
      if (event.type === 'started') {
        spoken.audio = open(event.start);
        spoken.audio.play({ utteranceId: 1, interruptible: true, text: 'hum', samples: CLIP });
      } else if (event.type === 'mark') spoken.audio?.mark(event.name);
      else if (event.type === 'unplayed') spoken.audio?.unplayed(event.ms);
      else expect(event).toEqual({ type: 'closed', reason: 'ended' });
    },
  });
  return spoken;
}

async function spokenOver(lostBeatEvery: number): Promise<{ framesMost: number; endMs: number }> {
  const at = await table();
  at.asterisk.faults.lostBeatEvery = lostBeatEvery;
  const { call, phone } = await rings(at, 'silent');
  const media = await at.connection.openMedia(call.callId, patient);
  const { audio, reports } = speaks(at, media);
  await until(() => reports.length > 0, 'the end');
  await audio?.close();
  const { framesMost } = legOf(at).queue;
  // Not one frame is left out, whatever it takes.
  expect(legOf(at).deliveredFrames).toBe(SECONDS * 50);
  phone.hangUp();
  await nothingLeft(at);
  const [report] = reports;
  return { framesMost, endMs: (report?.endMs ?? 0) - (report?.startMs ?? 0) };
}

describe("the agent's audio at Asterisk", () => {
  it('is ahead of what is heard by its lead', async () => {
    const { framesMost, endMs } = await spokenOver(Number.POSITIVE_INFINITY);
    expect(framesMost).toBeLessThanOrEqual(6);
    expect(endMs).toBe(SECONDS * 1_000);
  });

  it('is ahead by little more while beats are lost, however long it speaks', async () => {
    const { framesMost, endMs } = await spokenOver(4);
    // The lead, and half a second's loss before it is seen.
    expect(framesMost).toBeLessThanOrEqual(5 + 7 + 3);
    expect(endMs).toBeGreaterThan((SECONDS * 1_000 * 4) / 3 - 300);
  });
});
