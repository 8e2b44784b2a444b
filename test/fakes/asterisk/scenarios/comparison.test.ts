// The simulated Asterisk beside the real one: the same scenarios, the same answers, the same order of events
// on each channel. The real one's side is a recording (fixtures/wire/ari); with ASTERISK_URL
// (http://user:password@host:port, configured as asterisk §1 says) it is asked again, and with
// ASTERISK_RECORD=1 recorded anew. ASTERISK_MEDIA_PORT: where its connection `media_gw` leads.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FakeClock } from '../../fake-clock.ts';
import { freePort } from '../../free-port.ts';
import { startAsterisk } from '../fake-asterisk.ts';
import { pump } from '../media/pump.ts';
import { type Account, ask, type Event, idOf } from './ari-session.ts';
import { type Note, type Place, Stage } from './scenario.ts';
import { scenarios } from './scenarios.ts';

const FOLDER = 'fixtures/wire/ari';
const real = process.env['ASTERISK_URL'];
const records = process.env['ASTERISK_RECORD'] === '1';

/** What is told of a channel besides, and comes or does not by the dialplan's way of doing things. */
const NOISE = new Set(['ChannelDialplan', 'ChannelConnectedLine']);
const QUIET_VARIABLES =
  /^(RTPAUDIO|MIXMONITOR|PLAYBACK|BRIDGEPEER|BRIDGEPVTCALLID|__?|DIAL|ANSWERED)/;

const recording = z.object({ source: z.string(), notes: z.array(z.custom<Note>()) });

async function run(name: string, place: Place): Promise<Note[]> {
  const stage = await Stage.open(place);
  try {
    await scenarios[name]?.(stage);
  } finally {
    await stage.close();
  }
  return stage.named();
}

/** Without what differs from run to run. */
function anonymous(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/g, 'uuid')
    .replaceAll(/\b\d{10}\.\d+/g, 'unique')
    .replaceAll(/-[0-9a-f]{8}(?=[;"\s,]|$)/g, '-serial')
    .replaceAll(/0x[0-9a-f]+/g, 'pointer')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'host');
}

/** By what they are about: answers, media, and each channel's events. */
type Lines = Record<string, string[]>;

function linesOf(notes: Note[]): Lines {
  const lines: Lines = {};
  const add = (about: string, line: string): void => {
    lines[about] = [...(lines[about] ?? []), line];
  };
  for (const note of notes) {
    if (note.kind === 'reply') add('answers', anonymous(lineOfReply(note)));
    else if (note.kind === 'media') add('media', anonymous(note.text));
    else if (note.kind === 'closed') add('media', `closed ${note.code}`);
    else if (note.kind === 'audiosocket') add('audiosocket', note.hex);
    else if (!isNoise(note.event))
      add(anonymous(aboutOf(note.event)), anonymous(lineOf(note.event)));
  }
  return lines;
}

function isNoise(event: Event): boolean {
  const variable = String(event['variable'] ?? '');
  return NOISE.has(event.type) || (variable !== '' && QUIET_VARIABLES.test(variable));
}

/** A channel's dial is told by another way than the rest, and overtakes it or is overtaken. */
function aboutOf(event: Event): string {
  const about = idOf(event) || 'application';
  return event.type === 'Dial' ? `dial of ${about}` : about;
}

function lineOf(event: Event): string {
  const subject = (event['channel'] ?? event['peer'] ?? {}) as Record<string, unknown>; // As recorded.
  const dialplan = (subject['dialplan'] ?? {}) as Record<string, unknown>;
  const bridge = event['bridge'] as Record<string, unknown> | undefined;
  const keys = ['dialstatus', 'dialstring', 'cause', 'cause_txt', 'tech_cause', 'soft', 'digit'];
  const more = ['variable', 'value', 'args', 'caller_presentation_txt', 'eventname', 'userevent'];
  const facts = [...keys, ...more].flatMap((key) =>
    event[key] === undefined ? [] : [`${key}=${JSON.stringify(event[key])}`],
  );
  const members = bridge?.['channels'];
  if (Array.isArray(members)) facts.push(`${String(bridge?.['technology'])} of ${members.length}`);
  const parts: unknown[] = [event.type, subject['name']];
  // These two are told by another thread than the one that changes the state and runs the dialplan.
  const isApart = ['Dial', 'ChannelHangupRequest'].includes(event.type);
  if (!isApart) parts.push(subject['state'], dialplan['app_name']);
  return [...parts, ...facts].join(' ');
}

function lineOfReply({ asked, status, body }: Extract<Note, { kind: 'reply' }>): string {
  const shown = typeof body === 'object' && body !== null ? shapeOf(body) : String(body);
  return `${asked} ${status} ${shown}`;
}

/** Messages by their words, objects by their fields. */
function shapeOf(body: object): string {
  const fields = Object.entries(body);
  const [first] = fields;
  if (fields.length === 1 && first !== undefined) return JSON.stringify(body);
  const plain = fields.filter(([, value]) => typeof value !== 'object');
  const known = plain.filter(([key]) => !/^(creationtime|protocol_id|use_count)$/.test(key));
  return `${Object.keys(body).join(',')}: ${known.map((pair) => pair.join('=')).join(' ')}`;
}

async function simulated(name: string): Promise<Lines> {
  const clock = new FakeClock();
  const port = await freePort();
  const asterisk = await startAsterisk({
    clock,
    websocketClients: { media_gw: { uri: `ws://127.0.0.1:${port}/media`, protocols: 'media' } },
  });
  const stop = pump(clock);
  try {
    const account = { url: asterisk.url, user: 'gw', password: 'gwsecret' };
    const pause = (ms: number) => new Promise<void>((done) => void clock.after(ms, done));
    return linesOf(await run(name, { account, pause, mediaPort: port }));
  } finally {
    stop();
    await asterisk.stop();
  }
}

function realPlace(url: string): Place {
  const { username: user, password, origin } = new URL(url);
  const account: Account = { url: origin, user, password };
  const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  const port = process.env['ASTERISK_MEDIA_PORT'];
  return { account, pause, mediaPort: port === undefined ? null : Number(port) };
}

/** One message a line: the file is read by people. */
function write(name: string, version: string, notes: Note[]): void {
  // What it writes to its own disk is nobody's business here.
  const shown = notes.filter((note) => !/MixMonitor|MIXMONITOR/.test(JSON.stringify(note)));
  const source = `Asterisk ${version}, configured as in this project's reference, ARI and media sockets`;
  const lines = shown
    .map((note) => `    ${JSON.stringify(note)}`)
    .join(',\n')
    .replaceAll(/(?<="asterisk_id":")[^"]+/g, '02:00:00:00:00:01');
  const text = `{\n  "source": ${JSON.stringify(source)},\n  "notes": [\n${lines}\n  ]\n}\n`;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}/${name}.json`, text);
}

describe.each(Object.keys(scenarios))('%s', (name) => {
  it('is as it was recorded of Asterisk', async () => {
    const { notes } = recording.parse(JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8')));
    expect(await simulated(name)).toEqual(linesOf(notes));
  });

  // Threads of Asterisk overtake one another: a Dial RINGING now and then comes before its Dial "", one half's
  // request to hang up before the other's. One run in three has to be the usual one.
  it.runIf(real !== undefined)('is as Asterisk does it', { retry: 2 }, async () => {
    const place = realPlace(real ?? '');
    const notes = await run(name, place);
    const info = await ask(place.account, { method: 'GET', path: 'asterisk/info' });
    const { system } = info.body as { system: { version: string } }; // As recorded.
    if (records) write(name, system.version, notes);
    expect(await simulated(name)).toEqual(linesOf(notes));
  });
});
