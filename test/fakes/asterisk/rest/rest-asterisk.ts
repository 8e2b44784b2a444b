// ARI's /asterisk and /applications: who the PBX is, what it has loaded, who is connected and what each
// wants to hear of.

import type { Pbx } from '../pbx.ts';
import type { Application } from '../stasis.ts';
import { noContent, ok, type Params, Refusal, type RestAnswer, type Routes } from './rest.ts';

export interface Machine {
  startedAt: string;
  /** Loaded modules, without `.so`; beyond those that the version has. */
  modules: Set<string>;
}

const descriptions: Record<string, string> = {
  chan_websocket: 'Websocket Media Channel',
  res_websocket_client: 'WebSocket Client Support',
  res_http_websocket: 'HTTP WebSocket Support',
  chan_audiosocket: 'AudioSocket Channel',
  res_audiosocket: 'AudioSocket support functions for Asterisk',
  chan_rtp: 'RTP Media Channel',
  res_ari: 'Asterisk RESTful Interface',
  res_stasis: 'Stasis application support',
  chan_pjsip: 'PJSIP Channel Driver',
  codec_ulaw: 'mu-Law Coder/Decoder',
};

export function standardModules(pbx: Pbx): Set<string> {
  const { version } = pbx;
  const modules = ['chan_rtp', 'res_http_websocket', 'res_ari', 'res_stasis', 'chan_pjsip'];
  modules.push('app_stasis', 'bridge_simple', 'bridge_softmix', 'codec_alaw', 'codec_g722');
  modules.push('codec_resample');
  if (version.audioSocket) modules.push('chan_audiosocket', 'res_audiosocket');
  if (version.chanWebsocket) modules.push('chan_websocket');
  if (version.outboundWebsocket) modules.push('res_websocket_client');
  return new Set([...modules, 'codec_ulaw']);
}

export function asteriskRoutes(pbx: Pbx, machine: Machine): Routes {
  const module = (name: string): Record<string, unknown> => ({
    name: `${name}.so`,
    description: descriptions[name] ?? name,
    use_count: 0,
    status: 'Running',
    support_level: 'core',
  });
  return {
    'GET asterisk/info': () =>
      ok({
        build: {
          os: 'Linux',
          kernel: '6.1.0',
          machine: 'x86_64',
          options: 'OPTIONAL_API',
          date: '2026-01-01 00:00:00 UTC',
          user: 'root',
        },
        system: { version: pbx.version.text, entity_id: '02:00:00:00:00:01' },
        config: { name: '', default_language: 'en', setid: { user: '', group: '' } },
        status: { startup_time: machine.startedAt, last_reload_time: machine.startedAt },
      }),
    'GET asterisk/ping': () =>
      ok({ asterisk_id: '02:00:00:00:00:01', ping: 'pong', timestamp: pbx.timestamp() }),
    'GET asterisk/modules': () => ok([...machine.modules].map(module)),
    'GET asterisk/modules/{name}': (name) => {
      const wanted = name.replace(/\.so$/, '');
      if (machine.modules.has(wanted)) return ok(module(wanted));
      throw new Refusal(404, 'Module could not be found in running modules');
    },
    'GET asterisk/variable': (_, params) => {
      if (params.has('variable')) return ok({ value: '' });
      throw new Refusal(400, 'Variable name is required');
    },
    ...applicationRoutes(pbx),
  };
}

function applicationRoutes(pbx: Pbx): Routes {
  const found = (name: string): Application => {
    const app = pbx.stasis.apps.get(name);
    if (app === undefined) throw new Refusal(404, 'Application not found');
    return app;
  };
  return {
    'GET applications': () => ok([...pbx.stasis.apps.values()].map((app) => show(pbx, app))),
    'GET applications/{name}': (name) => ok(show(pbx, found(name))),
    'PUT applications/{name}/eventFilter': (name, params) => {
      const app = found(name);
      app.filter = filterOf(params);
      return ok(show(pbx, app));
    },
    'POST applications/{name}/subscription': (name, params) => subscribe(pbx, found(name), params),
    'DELETE applications/{name}/subscription': (name) => {
      found(name);
      return noContent;
    },
  };
}

function show(pbx: Pbx, app: Application): Record<string, unknown> {
  const channels = [...pbx.channels.values()].filter(
    (channel) => channel.app === app.name || channel.followers.has(app.name),
  );
  const bridges = [...pbx.bridges.values()].filter(({ apps }) => apps.has(app.name));
  return {
    name: app.name,
    channel_ids: channels.map(({ id }) => id),
    bridge_ids: bridges.map(({ id }) => id),
    endpoint_ids: [...app.endpoints],
    device_names: [],
    events_allowed: app.filter.allowed,
    events_disallowed: app.filter.disallowed,
  };
}

function filterOf(params: Params): Application['filter'] {
  const { body } = params;
  const asked = typeof body === 'object' && body !== null ? body : {};
  const list = (name: string): { type: string }[] => {
    const value: unknown = Reflect.get(asked, name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw new Refusal(400, 'Invalid format definition');
    return value.map((each: unknown) => {
      const type: unknown = typeof each === 'object' && each !== null && Reflect.get(each, 'type');
      if (typeof type !== 'string') throw new Refusal(400, 'Invalid format definition');
      return { type };
    });
  };
  return { allowed: list('allowed'), disallowed: list('disallowed') };
}

function subscribe(pbx: Pbx, app: Application, params: Params): RestAnswer {
  const sources = params.get('eventSource').split(',');
  for (const source of sources) {
    const [kind = '', name = ''] = source.split(/:(.*)/);
    if (kind === 'channel') {
      const channel = pbx.find(name);
      if (channel === undefined) throw new Refusal(422, 'Event source does not exist');
      channel.followers.add(app.name);
    } else if (kind === 'bridge') {
      const bridge = pbx.bridges.get(name);
      if (bridge === undefined) throw new Refusal(422, 'Event source does not exist');
      bridge.apps.add(app.name);
    } else if (kind === 'endpoint' || kind === 'deviceState') {
      app.endpoints.add(name);
    } else {
      throw new Refusal(400, 'Invalid event source URI scheme');
    }
  }
  return ok(show(pbx, app));
}
