// Schemas of Asterisk's REST answers and events, as far as we use them. Other fields and other events are ignored.
// Source: asterisk §4, Asterisk's own /ari/api-docs (events.json, channels.json).

import { z } from 'zod';

const party = z.looseObject({ name: z.string().catch(''), number: z.string().catch('') });
const nobody = { name: '', number: '' };

export const ariChannel = z.looseObject({
  id: z.string(),
  name: z.string().catch(''),
  /** Channel state: Down, Ring, Ringing, Up, Busy, ... */
  state: z.string().catch(''),
  caller: party.catch(nobody),
  connected: party.catch(nobody),
  dialplan: z
    .looseObject({
      context: z.string().catch(''),
      exten: z.string().catch(''),
      priority: z.number().catch(0),
      /** The running dialplan application; while a Stasis application has the channel it is `Stasis`, then
       *  `app,argument,...`. */
      app_name: z.string().catch(''),
      app_data: z.string().catch(''),
    })
    .catch({ context: '', exten: '', priority: 0, app_name: '', app_data: '' }),
  channelvars: z.record(z.string(), z.string()).catch({}),
});
export type AriChannel = z.infer<typeof ariChannel>;

export const ariBridge = z.looseObject({ id: z.string(), channels: z.array(z.string()).catch([]) });

export const ariInfo = z.looseObject({
  system: z.looseObject({ version: z.string() }).optional(),
});

export const ariFault = z.looseObject({
  message: z.string().optional(),
  error: z.string().optional(),
});

const base = { timestamp: z.string().catch(''), application: z.string().catch('') };
const onChannel = { ...base, channel: ariChannel };
const cause = { cause: z.number().catch(0), cause_txt: z.string().catch('') };

/** The events that we use. */
export const ariEvent = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('StasisStart'),
    ...onChannel,
    args: z.array(z.string()).catch([]),
    /** The channel that this one replaces: its telephone has transferred the call. */
    replace_channel: ariChannel.optional().catch(undefined),
    /** Set by our reconciliation, for a channel that talked in a process which is gone. */
    patchbay_left: z.literal(true).optional().catch(undefined),
  }),
  z.looseObject({ type: z.literal('StasisEnd'), ...onChannel }),
  z.looseObject({ type: z.literal('ChannelStateChange'), ...onChannel }),
  z.looseObject({ type: z.literal('ChannelDtmfReceived'), ...onChannel, digit: z.string() }),
  z.looseObject({
    type: z.literal('ChannelHangupRequest'),
    ...onChannel,
    ...cause,
    tech_cause: z.number().optional().catch(undefined),
  }),
  z.looseObject({
    type: z.literal('ChannelDestroyed'),
    ...onChannel,
    ...cause,
    tech_cause: z.number().optional().catch(undefined),
  }),
  z.looseObject({ type: z.literal('ChannelDialplan'), ...onChannel }),
  z.looseObject({ type: z.literal('ChannelHold'), ...onChannel }),
  z.looseObject({ type: z.literal('ChannelUnhold'), ...onChannel }),
  z.looseObject({ type: z.literal('ChannelEnteredBridge'), ...onChannel, bridge: ariBridge }),
  z.looseObject({ type: z.literal('ChannelLeftBridge'), ...onChannel, bridge: ariBridge }),
  z.looseObject({
    type: z.literal('Dial'),
    ...base,
    peer: ariChannel,
    /** The channel whose dialplan dials. */
    caller: ariChannel.optional().catch(undefined),
    dialstatus: z.string().catch(''),
  }),
  z.looseObject({ type: z.literal('ApplicationReplaced'), ...base }),
]);
export type AriEvent = z.infer<typeof ariEvent>;
export type StasisStart = Extract<AriEvent, { type: 'StasisStart' }>;

/** The channel of an event. */
export function channelOf(event: AriEvent): AriChannel | undefined {
  if (event.type === 'Dial') return event.peer;
  return event.type === 'ApplicationReplaced' ? undefined : event.channel;
}

/** Whether the channel has left our application, or is gone. */
export function isEnd({ type }: AriEvent): boolean {
  return type === 'StasisEnd' || type === 'ChannelDestroyed';
}

/** Whether the channel is in a Stasis application: in `app`, default any. A channel that was dialled directly is only
 *  after the answer. */
export function isInApplication({ dialplan }: AriChannel, app?: string): boolean {
  if (dialplan.app_name !== 'Stasis') return false;
  return app === undefined || dialplan.app_data.split(',', 1)[0] === app;
}

/** Whether a channel that we dialled continues in the dialplan. One that has just been answered looks the same until
 *  its `StasisStart`. */
export function isSentOn(channel: AriChannel): boolean {
  return channel.state === 'Up' && !isInApplication(channel);
}

/** Events that we ignore: a filter for the application. Source: asterisk §4. */
export const FILTERED_EVENTS = [
  'ChannelVarset',
  'ChannelDialplan',
  'ChannelConnectedLine',
  'ChannelCallerId',
  'ChannelTalkingStarted',
  'ChannelTalkingFinished',
  'DeviceStateChanged',
  'EndpointStateChange',
  'PeerStatusChange',
];
