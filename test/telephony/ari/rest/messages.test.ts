// What is read of Asterisk's events and answers: everything that was ever recorded of it, and anything else.

import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ariBridge,
  ariChannel,
  ariEvent,
  ariFault,
  ariInfo,
  channelOf,
  FILTERED_EVENTS,
  isInApplication,
} from '../../../../src/telephony/ari/rest/messages.ts';

const FOLDER = 'fixtures/wire/ari';

interface Recorded {
  type: string;
  [key: string]: unknown;
}

const recorded: Recorded[] = readdirSync(FOLDER).flatMap((name) => {
  const { notes } = JSON.parse(readFileSync(`${FOLDER}/${name}`, 'utf8'));
  return notes.flatMap(({ event }: { event?: Recorded }) => event ?? []);
});

/** The types that are acted upon. */
const OURS = [
  'ApplicationReplaced',
  'ChannelDestroyed',
  'ChannelDialplan',
  'ChannelDtmfReceived',
  'ChannelEnteredBridge',
  'ChannelHangupRequest',
  'ChannelLeftBridge',
  'ChannelStateChange',
  'Dial',
  'StasisEnd',
  'StasisStart',
];

describe('an event that was recorded of Asterisk', () => {
  it('is there of every type that is acted upon', () => {
    expect(recorded.length).toBeGreaterThan(500);
    const types = new Set(recorded.map(({ type }) => type));
    expect(OURS.filter((type) => !types.has(type))).toEqual([]);
  });

  it('is taken if it is of one of them, and else passed over', () => {
    for (const event of recorded) {
      expect([event.type, ariEvent.safeParse(event).success]).toEqual([
        event.type,
        OURS.includes(event.type),
      ]);
    }
  });

  it('names its channel', () => {
    for (const event of recorded) {
      const taken = ariEvent.safeParse(event).data;
      if (taken === undefined) continue;
      const about = (event['channel'] ?? event['peer'] ?? undefined) as { id: string } | undefined; // As recorded.
      expect(channelOf(taken)?.id).toBe(about?.id);
    }
  });

  it('of a channel that is made first shows that our application has it, of another only when it is answered', () => {
    const states = (file: string, type: string): [string, boolean][] => {
      const { notes } = JSON.parse(readFileSync(`${FOLDER}/${file}.json`, 'utf8'));
      return notes.flatMap(({ event }: { event?: Recorded }): [string, boolean][] => {
        const taken = ariEvent.safeParse(event).data;
        const channel = taken?.type === type ? channelOf(taken) : undefined;
        return channel === undefined ? [] : [[channel.state, isInApplication(channel)]];
      });
    };
    const made = states('early-media-answered', 'Dial').slice(0, 2);
    expect(made).toEqual([
      ['Down', true],
      ['Down', true],
    ]);
    const atOnce = states('pjsip-answer', 'Dial');
    expect(atOnce.every(([, isThere]) => !isThere)).toBe(true);
    expect(states('pjsip-answer', 'StasisStart')).toEqual([['Up', true]]);
  });
});

describe('events that are disabled by request', () => {
  it('are none that is acted upon, but for steps of the dialplan, which only the doctor reads', () => {
    expect(FILTERED_EVENTS.filter((type) => OURS.includes(type))).toEqual(['ChannelDialplan']);
  });
});

describe('anything else', () => {
  it('is an event or is none, and never an exception', () => {
    const channel = fc.record(
      { id: fc.string(), state: fc.jsonValue(), dialplan: fc.jsonValue(), caller: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const event = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...OURS), fc.string()),
        channel: fc.oneof(channel, fc.jsonValue()),
        peer: channel,
        bridge: fc.jsonValue(),
        cause: fc.jsonValue(),
        args: fc.jsonValue(),
        digit: fc.jsonValue(),
        dialstatus: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(fc.oneof(event, fc.jsonValue()), (value) => {
        const taken = ariEvent.safeParse(value).data;
        if (taken !== undefined) expect(typeof (channelOf(taken)?.id ?? '')).toBe('string');
      }),
    );
  });

  it('of a channel is what is not known of it, but for its id', () => {
    expect(ariChannel.parse({ id: 'x', state: 7, caller: 'Bob', dialplan: [], extra: 1 })).toEqual({
      id: 'x',
      name: '',
      state: '',
      caller: { name: '', number: '' },
      connected: { name: '', number: '' },
      dialplan: { context: '', exten: '', priority: 0, app_name: '', app_data: '' },
      channelvars: {},
      extra: 1,
    });
    expect(ariChannel.safeParse({ name: 'x' }).success).toBe(false);
  });

  it('of a bridge, of the machine, or of a fault is passed over', () => {
    expect(ariBridge.parse({ id: 'b', channels: 'all' }).channels).toEqual([]);
    expect(ariInfo.parse({ build: {} }).system).toBeUndefined();
    expect(ariInfo.safeParse({ system: { version: 22 } }).success).toBe(false);
    expect(ariFault.parse({ message: 'x', more: 1 }).message).toBe('x');
  });
});
