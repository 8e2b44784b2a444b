// ARI's /events: events that a client sends to an application. Statuses and events as recorded from Asterisk 22.10.1.

import type { Pbx } from '../pbx.ts';
import { noContent, type Params, Refusal, type Routes } from './rest.ts';

export function eventRoutes(pbx: Pbx): Routes {
  return {
    'POST events/user/{name}': (name, params) => {
      const app = params.get('application');
      if (app === '') throw new Refusal(400, 'Missing parameter application');
      if (!pbx.stasis.apps.has(app)) throw new Refusal(404, 'Application not found');
      pbx.stasis.tell([app], {
        type: 'ChannelUserevent',
        timestamp: pbx.timestamp(),
        eventname: name,
        userevent: { ...params.variables, eventname: name },
        ...sourcesOf(pbx, params),
      });
      return noContent;
    },
  };
}

/** The objects that the event is about. */
function sourcesOf(pbx: Pbx, params: Params): Record<string, unknown> {
  const sources = params.get('source').split(',');
  const found = sources.filter((source) => source !== '').map((source) => snapshot(pbx, source));
  return Object.assign({}, ...found) as Record<string, unknown>; // Of records.
}

function snapshot(pbx: Pbx, source: string): Record<string, unknown> {
  const [kind = '', name = ''] = source.split(/:(.*)/);
  if (kind !== 'channel' && kind !== 'bridge' && kind !== 'endpoint') {
    throw new Refusal(400, 'Invalid event source URI scheme');
  }
  const thing = kind === 'channel' ? pbx.find(name) : pbx.bridges.get(name);
  if (thing === undefined || kind === 'endpoint') {
    throw new Refusal(422, 'Event source was not found');
  }
  return { [kind]: thing.snapshot() };
}
