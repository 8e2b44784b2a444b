// ARI's /channels: dial, answer, ring, hold, keys, variables, hang up, go back to the dialplan.

import { FRAME_SAMPLES, RATE_HZ } from '../../../../src/audio/pcm.ts';
import { causeOfReason } from '../cause.ts';
import { type Channel, partyOf } from '../channel.ts';
import type { Frame } from '../media/frame.ts';
import { codecOfFormat } from '../media/media-format.ts';
import type { Pbx } from '../pbx.ts';
import type { Runner } from '../scenarios/runner.ts';
import type { Prepared, Trunk } from '../trunk.ts';
import { noContent, ok, type Params, Refusal, type RestAnswer, type Routes } from './rest.ts';

const NOT_IN_STASIS = 'Channel not in Stasis application';
const RING_MS_DEFAULT = 30_000;

interface Means {
  pbx: Pbx;
  trunk: Trunk;
  runner: Runner;
}

export function channelRoutes(means: Means): Routes {
  const { pbx } = means;
  const prepared = new Map<string, Prepared>();
  const act = (run: (channel: Channel, params: Params) => void) => {
    return (id: string, params: Params): RestAnswer => {
      run(beyondDialling(pbx, id), params);
      return noContent;
    };
  };
  const nothing = act(() => undefined);
  return {
    'GET channels': () => ok([...pbx.channels.values()].filter(isListed).map(show)),
    'POST channels': (_, params) => originate(means, params, params.get('channelId')),
    'POST channels/create': (_, params) => create(means, params, prepared),
    'GET channels/{id}': (id) => ok(listed(pbx, id).snapshot()),
    'POST channels/{id}': (id, params) => originate(means, params, id),
    'DELETE channels/{id}': (id, params) => remove(pbx, id, params),
    'POST channels/{id}/dial': (id, params) => dial(pbx, prepared, { id, params }),
    'POST channels/{id}/answer': act((channel) => {
      if (channel.state === 'Up') return;
      pbx.setState(channel, 'Up');
      channel.line.answer();
    }),
    'POST channels/{id}/ring': act((channel) => channel.line.ring()),
    'DELETE channels/{id}/ring': nothing,
    'POST channels/{id}/progress': act((channel) => {
      if (channel.partner !== null) pbx.farProgresses(channel.partner);
    }),
    'POST channels/{id}/dtmf': act((channel, params) => {
      if (!params.has('dtmf')) throw new Refusal(400, 'DTMF is required');
      for (const digit of params.get('dtmf')) channel.line.digit(digit);
    }),
    'POST channels/{id}/mute': act((channel, params) => {
      if (params.get('direction') !== 'out') channel.isMutedIn = true;
    }),
    'DELETE channels/{id}/mute': act((channel) => {
      channel.isMutedIn = false;
    }),
    'POST channels/{id}/hold': nothing,
    'DELETE channels/{id}/hold': nothing,
    'POST channels/{id}/moh': act((channel, params) => {
      channel.music = params.has('mohClass') ? params.get('mohClass') : 'default';
    }),
    'DELETE channels/{id}/moh': act((channel) => {
      channel.music = null;
    }),
    'POST channels/{id}/play/{playbackId}': (id, params, playbackId) => {
      const channel = beyondDialling(pbx, id);
      const mediaUri = params.get('media');
      channel.sounds.push(mediaUri);
      const targetUri = `channel:${id}`;
      const body = {
        id: playbackId,
        media_uri: mediaUri,
        target_uri: targetUri,
        language: 'en',
        state: 'queued',
      };
      return { status: 201, body };
    },
    'POST channels/{id}/silence': act((channel) => {
      const frame: Frame = { pcm: new Int16Array(FRAME_SAMPLES), rateHz: RATE_HZ };
      channel.stopSilence ??= pbx.ticker.add('source', () => {
        if (channel.bridge === null && !channel.isOver) channel.line.audio(frame);
      });
    }),
    'DELETE channels/{id}/silence': act((channel) => {
      channel.stopSilence?.();
      channel.stopSilence = null;
    }),
    'POST channels/{id}/continue': act((channel, params) =>
      goOn(pbx, channel, params, means.runner),
    ),
    'POST channels/{id}/redirect': (id, params) => redirect(pbx, id, params),
    'GET channels/{id}/variable': (id, params) => getVariable(means, id, params),
    'POST channels/{id}/variable': (id, params) => {
      if (!params.has('variable')) throw new Refusal(400, 'Variable name is required');
      pbx.setVariable(listed(pbx, id), params.get('variable'), params.get('value'));
      return noContent;
    },
    'GET channels/{id}/rtp_statistics': (id) => {
      const channel = listed(pbx, id);
      throw channel.isSip
        ? new Refusal(404, 'RTP info not found')
        : new Refusal(403, 'Unsupported channel type');
    },
    ...(pbx.version.manyVariables
      ? { 'GET channels/{id}/variables': (id, params) => getVariables(pbx, id, params) }
      : {}),
  };
}

export function listed(pbx: Pbx, id: string): Channel {
  const channel = pbx.find(id);
  if (channel === undefined) throw new Refusal(404, 'Channel not found');
  return channel;
}

function inStasis(pbx: Pbx, id: string): Channel {
  const channel = listed(pbx, id);
  if (channel.app === null) throw new Refusal(409, NOT_IN_STASIS);
  return channel;
}

/** What has been made or rings can be dialled, joined and hung up, and nothing else. */
function beyondDialling(pbx: Pbx, id: string): Channel {
  const channel = inStasis(pbx, id);
  if (['Down', 'Ringing'].includes(channel.state)) {
    throw new Refusal(412, 'Channel in invalid state');
  }
  return channel;
}

function isListed(channel: Channel): boolean {
  return !channel.isHidden;
}

function show(channel: Channel): Record<string, unknown> {
  return channel.snapshot();
}

function originate({ pbx, trunk, runner }: Means, params: Params, id: string): RestAnswer {
  const endpoint = endpointOf(params);
  const app = params.get('app');
  const extension = params.get('extension');
  if (app === '' && extension === '') {
    throw new Refusal(400, 'Application or extension must be specified');
  }
  const args = argsOf(params);
  const formats = formatsOf(pbx, params);
  const otherId = params.get('otherChannelId');
  const made = prepare(pbx, trunk, {
    id,
    ...(otherId === '' ? {} : { otherId }),
    endpoint,
    formats,
    caller: partyOf(params.get('callerId')),
    variables: params.variables,
    app: app === '' ? null : app,
    originated: true,
    onAnswer: (channel) => {
      if (app === '')
        runner.run(channel, { context: params.get('context') || 'default', exten: extension });
      else if (!pbx.enterStasis(channel, app, args)) pbx.hangUp(channel, 16, null);
    },
  });
  const answer = ok(made.channel.snapshot());
  const begin = (): void => made.dial(timeoutOf(params));
  if (pbx.faults.eventsBeforeAnswer) begin();
  else pbx.soon(begin);
  return answer;
}

function create({ pbx, trunk }: Means, params: Params, all: Map<string, Prepared>): RestAnswer {
  const endpoint = endpointOf(params);
  const app = params.get('app');
  if (app === '') throw new Refusal(400, 'Application must be specified');
  const made = prepare(pbx, trunk, {
    id: params.get('channelId'),
    endpoint,
    formats: formatsOf(pbx, params),
    caller: null,
    variables: params.variables,
    app,
    originated: false,
    onAnswer: () => undefined,
  });
  const { channel } = made;
  all.set(channel.id, made);
  const answer = ok(channel.snapshot());
  pbx.soon(() => {
    if (!pbx.enterStasis(channel, app, argsOf(params))) pbx.hangUp(channel, 0, null);
  });
  return answer;
}

function dial(
  pbx: Pbx,
  all: Map<string, Prepared>,
  { id, params }: { id: string; params: Params },
): RestAnswer {
  const channel = inStasis(pbx, id);
  const made = all.get(id);
  if (made === undefined || channel.state !== 'Down') {
    throw new Refusal(409, "Channel is not in the 'Down' state");
  }
  if (made.isDialled) {
    pbx.complaints.push('a channel was dialled twice: Asterisk 22.10.1 dies of it');
    pbx.crash();
    throw new Refusal(500, 'An internal error prevented this request from being handled');
  }
  const timeoutMs = Number(params.get('timeout') || 0) * 1_000;
  made.isDialled = true;
  pbx.soon(() => made.dial(timeoutMs > 0 ? timeoutMs : null));
  return noContent;
}

function prepare(pbx: Pbx, trunk: Trunk, facts: Parameters<Trunk['prepare']>[0]): Prepared {
  const id = facts.id === '' ? pbx.uniqueId() : facts.id;
  if (pbx.isIdTaken(id)) throw new Refusal(409, 'Channel with given unique ID already exists');
  const made = trunk.prepare({ ...facts, id });
  if (made === undefined) throw new AllocationFailed();
  return made;
}

/** The one error that has another shape. */
class AllocationFailed extends Refusal {
  constructor() {
    super(500, 'Allocation failed');
    Object.assign(this.answer, { body: { error: 'Allocation failed' } });
  }
}

function endpointOf(params: Params): string {
  const endpoint = params.get('endpoint');
  if (endpoint === '') throw new Refusal(400, 'Endpoint must be specified');
  if (!endpoint.includes('/')) throw new Refusal(400, 'Invalid endpoint specified');
  return endpoint;
}

function argsOf(params: Params): string[] {
  const args = params.get('appArgs');
  return args === '' ? [] : args.split(',');
}

/** The originator's, which excludes others; empty: every format of this Asterisk. */
function formatsOf(pbx: Pbx, params: Params): readonly string[] {
  const named = params.get('formats');
  const originator = params.get('originator');
  if (originator !== '') {
    if (named !== '') throw new Refusal(400, "Originator and formats can't both be specified");
    return pbx.find(originator)?.formats ?? [];
  }
  const formats = named === '' ? [] : named.split(',');
  const unknown = formats.find((format) => codecOfFormat(format) === undefined);
  if (unknown !== undefined) throw new Refusal(400, `Provided format (${unknown}) was not found`);
  return formats;
}

/** Null for a dial without an end. */
function timeoutOf(params: Params): number | null {
  const seconds = params.has('timeout') ? Number(params.get('timeout')) : RING_MS_DEFAULT / 1_000;
  return seconds < 0 ? null : seconds * 1_000;
}

function remove(pbx: Pbx, id: string, params: Params): RestAnswer {
  const channel = listed(pbx, id);
  const byReason = params.has('reason') ? causeOfReason(params.get('reason')) : 16;
  if (byReason === undefined) throw new Refusal(400, 'Invalid reason for hangup reason provided');
  const cause = params.has('reason_code') ? Number(params.get('reason_code')) : byReason;
  pbx.soon(() => pbx.hangUp(channel, cause, { cause: 32, soft: true }));
  return noContent;
}

function goOn(pbx: Pbx, channel: Channel, params: Params, runner: Runner): void {
  const context = params.get('context') || channel.context;
  const exten = params.get('extension') || channel.exten;
  const label = params.get('label');
  const isNamed = params.has('context') || params.has('extension') || label !== '';
  const labelled =
    label === ''
      ? Number(params.get('priority') || 1)
      : runner.priorityOf({ context, exten }, label);
  if (labelled === undefined) throw new Refusal(404, 'Requested label can not be found');
  const target = isNamed ? { context, exten, priority: labelled } : null;
  pbx.leaveStasis(channel);
  if (channel.onLeave !== null) channel.onLeave(target);
  else if (target !== null) runner.run(channel, target);
  else pbx.hangUp(channel, 16, null);
}

function redirect(pbx: Pbx, id: string, params: Params): RestAnswer {
  const channel = beyondDialling(pbx, id);
  const endpoint = params.get('endpoint');
  const tech = endpoint.split('/')[0] ?? '';
  if (endpoint === '') throw new Refusal(400, "Required parameter 'endpoint' not provided.");
  if (!endpoint.includes('/')) {
    throw new Refusal(422, `Endpoint parameter '${endpoint}' does not contain tech/resource`);
  }
  if (tech !== channel.tech) {
    const problem = `does not match channel technology '${channel.tech}'`;
    throw new Refusal(422, `Endpoint technology '${tech}' ${problem}`);
  }
  // The far side follows the REFER, and hangs this call up.
  channel.variables.set('SIM_REFERRED_TO', endpoint);
  pbx.later(100, () => pbx.hangUp(channel, 16, { cause: 16 }));
  return noContent;
}

function getVariable(means: Means, id: string, params: Params): RestAnswer {
  const channel = listed(means.pbx, id);
  if (!params.has('variable')) throw new Refusal(400, 'Variable name is required');
  if (params.get('variable') === 'CHANNEL(rtp,hold)' && channel.name.startsWith('PJSIP/')) {
    return ok({ value: channel.isHolding ? '1' : '0' });
  }
  if (params.get('variable') === 'CHANNEL(audionativeformat)') {
    return ok({ value: `(${channel.formats.join('|')})` });
  }
  if (params.get('variable').endsWith(')')) return askFunction(means, params.get('variable'));
  const value = channel.variables.get(params.get('variable'));
  if (value === undefined) throw new Refusal(404, 'Provided variable was not found');
  return ok({ value });
}

/** Functions of the dialplan. */
function askFunction({ runner, trunk }: Means, expression: string): RestAnswer {
  const [, name, list = ''] = /^(\w+)\((.*)\)$/.exec(expression) ?? [];
  const [first = '', second = '', third = '1'] = list.split(',');
  if (name === 'DIALPLAN_EXISTS') {
    const exists =
      second === ''
        ? runner.hasContext(first)
        : runner.hasLine({ context: first, exten: second }, third);
    return ok({ value: exists ? '1' : '0' });
  }
  const endpoint = name === 'PJSIP_ENDPOINT' ? trunk.endpoints[first] : undefined;
  if (endpoint !== undefined && second === 'context') return ok({ value: endpoint.context });
  throw new Refusal(500, 'Unable to read provided function');
}

function getVariables(pbx: Pbx, id: string, params: Params): RestAnswer {
  const channel = listed(pbx, id);
  const names = params.get('variables').split(',');
  const values = names.map((name) => channel.variables.get(name));
  if (values.includes(undefined)) throw new Refusal(404, 'Provided variable was not found');
  return ok({ variables: Object.fromEntries(names.map((name, nth) => [name, values[nth]])) });
}
