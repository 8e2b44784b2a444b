// A call that goes on in another process than before: what its caller hears and does, and what becomes of its run, as the
// database and the API have them. The agent is that of `LookingUp`, whose function is on its way when the process dies.

import { expect, vi } from 'vitest';
import { readWav } from '../call/wav-reader.ts';
import type { FakeCallEvent, HostedCall } from '../fakes/hosted/hosted-call.ts';
import { type ApiClient, download } from './api-client.ts';
import { FUNCTION, GREETING, type LookingUp, NOTED, UNKNOWN } from './looking-up.ts';
import { recording } from './scenario.ts';

const POLL = { timeout: 60_000, interval: 100 };
/** Media time in which a caller waits for the agent on a busy machine. */
const HEARD_MS_MAX = 30_000;
const SORRY = "Sorry, I'm still here.";

interface StoredEvent {
  seq: number;
  mediaMs: number;
  body: { type: string } & Record<string, unknown>;
}

export class ResumedCall {
  readonly call: HostedCall;
  readonly runId: string;
  readonly #means: ResumedCallMeans;

  private constructor(call: HostedCall, runId: string, means: ResumedCallMeans) {
    this.call = call;
    this.runId = runId;
    this.#means = means;
  }

  /** A call whose agent has asked for a result that has not come. */
  static async begin(call: HostedCall, means: ResumedCallMeans): Promise<ResumedCall> {
    const { api, agentId, looking } = means;
    await call.waitForSpeech({ fromMs: 0, withinMs: HEARD_MS_MAX });
    await call.waitForSilence({ forMs: 800, withinMs: HEARD_MS_MAX });
    await call.pressDigits('1');
    await expect.poll(() => looking.asked, POLL).toBe(1);
    const ids = await api.runIds(agentId);
    const [runId = ''] = ids.filter((id) => !means.runIdsBefore.includes(id));
    const begun = new ResumedCall(call, runId, means);
    await begun.#untilStored('function.called', '');
    return begun;
  }

  /** The process that has it. */
  async owner(): Promise<string> {
    const text = 'select owner_node as owner from runs where id = $1';
    const [row] = await this.#means.query<{ owner: string }>(text, [this.runId]);
    return row?.owner ?? '';
  }

  /** How its media socket was ended, and milliseconds from then to the agent's first words over the next one. */
  async goesOn(): Promise<{ tcpEnd: unknown; speechMs: number }> {
    const { call } = this;
    await expect.poll(() => eventsOf(call, 'stream-started').length, POLL).toBe(2);
    const [stopped] = eventsOf(call, 'stream-stopped');
    const [, started] = eventsOf(call, 'stream-started');
    if (stopped === undefined || started === undefined) throw new Error('no second stream');
    const fromMs = Number(stopped.detail['mediaMs']);
    const heardMs = await call.waitForSpeech({ fromMs, withinMs: HEARD_MS_MAX });
    return {
      tcpEnd: stopped.detail['tcpEnd'],
      speechMs: started.at + (heardMs - fromMs) - stopped.at,
    };
  }

  /** The caller hears why there is no result, speaks, presses a key, is answered and hangs up. */
  async finish(): Promise<void> {
    const { call } = this;
    await this.#untilStored('agent.said', UNKNOWN);
    await call.waitForSilence({ forMs: 800, withinMs: HEARD_MS_MAX });
    await call.say(recording('on-wednesday'));
    await call.pressDigits('2');
    await this.#untilStored('agent.said', NOTED);
    await call.waitForSilence({ forMs: 800, withinMs: HEARD_MS_MAX });
    call.hangUp();
    await call.callbacksSettled();
  }

  /** One run, one log, one transcript, one recording whose gap is named; the function was called once. */
  async check(): Promise<void> {
    const { api, agentId, looking, runIdsBefore } = this.#means;
    const run = async () => api.run(agentId, this.runId);
    await expect.poll(async () => (await run()).is_completed, POLL).toBe(true);
    const { disposition, recording_url: recordingUrl, transcript_url: url } = await run();
    expect(disposition).toBe('user_hangup');
    expect(await api.runIds(agentId)).toHaveLength(runIdsBefore.length + 1);
    this.#checkTranscript((await download(String(url))).toString('utf8'));
    const events = await this.#events();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_each, nth) => nth + 1));
    expect(events.filter(({ body }) => body.type === 'call.ended')).toHaveLength(1);
    expect(looking.asked).toBe(1);
    const returned = events.find(({ body }) => body.type === 'function.returned');
    expect(returned?.body).toMatchObject({ name: FUNCTION });
    expect(String(returned?.body['result'])).toContain('It is not known whether this was done.');
    expect(looking.results.join()).toContain('It is not known whether this was done.');
    this.#checkRecording(events, await download(String(recordingUrl)));
    expect(this.call.faults).toEqual([]);
  }

  #checkTranscript(transcript: string): void {
    const places = [GREETING, SORRY, UNKNOWN, NOTED].map((words) => transcript.indexOf(words));
    expect(places, transcript).toEqual(places.toSorted((a, b) => a - b));
    expect(Math.min(...places), transcript).toBeGreaterThanOrEqual(0);
    expect(transcript.split(GREETING)).toHaveLength(2);
  }

  /** Both voices before the gap, neither in it, both after it. */
  #checkRecording(events: readonly StoredEvent[], file: Buffer): void {
    const resumed = events.filter(({ body }) => body.type === 'call.resumed');
    expect(resumed).toHaveLength(1);
    const [{ mediaMs, body } = { mediaMs: 0, body: {} as StoredEvent['body'] }] = resumed;
    const gapMs = Number(body['recordingGapMs']);
    expect(gapMs).toBeGreaterThan(0);
    expect(Number(body['gapMs'])).toBeGreaterThan(0);
    const { seconds, loud } = readWav(file);
    const isLoud = (channel: 'left' | 'right', fromMs: number, toMs: number): boolean => {
      for (let atMs = fromMs; atMs < toMs - 40; atMs += 20) if (loud(channel, atMs)) return true;
      return false;
    };
    const gapAt = mediaMs - gapMs;
    // What another machine has recorded is not in this file.
    expect(isLoud('right', 0, gapAt)).toBe(!this.#means.isElsewhere);
    if (this.#means.isElsewhere) expect(gapAt).toBe(0);
    for (const channel of ['left', 'right'] as const) {
      expect(isLoud(channel, gapAt, mediaMs)).toBe(false);
      expect(isLoud(channel, mediaMs, seconds * 1_000)).toBe(true);
    }
  }

  #events(): Promise<StoredEvent[]> {
    return this.#means.query<StoredEvent>(
      `select seq::int as seq, media_ms::int as "mediaMs", body from run_events
        where run_id = $1 order by seq`,
      [this.runId],
    );
  }

  async #untilStored(type: string, text: string): Promise<void> {
    await vi.waitFor(async () => {
      const events = await this.#events();
      const found = events.filter(({ body }) => body.type === type);
      const log = events.map(({ body }) => JSON.stringify(body)).join('\n');
      expect(
        found.some(({ body }) => JSON.stringify(body).includes(text)),
        log,
      ).toBe(true);
    }, POLL);
  }
}

export interface ResumedCallMeans {
  api: Pick<ApiClient, 'run' | 'runIds'>;
  /** Rows of a statement. */
  query: <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>;
  looking: LookingUp;
  agentId: string;
  /** Of calls of the agent before this one. */
  runIdsBefore: readonly string[];
  /** Whether the call goes on at another gateway. */
  isElsewhere: boolean;
}

function eventsOf({ events }: HostedCall, type: string): FakeCallEvent[] {
  return events.filter((event) => event.type === type);
}
