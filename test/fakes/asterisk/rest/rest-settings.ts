// What ARI shows of the PBX's settings: endpoints, and connections of websocket_client.conf with all that is
// in their sections. Shapes as recorded from Asterisk 22.10.1.

import type { WebsocketClient } from '../media/websocket-client.ts';
import type { Trunk } from '../trunk.ts';
import { ok, Refusal, type RestAnswer, type Routes } from './rest.ts';

export function settingsRoutes(
  clients: ReadonlyMap<string, WebsocketClient>,
  trunk: Trunk,
): Routes {
  const all = (): RestAnswer => ok(Object.keys(trunk.endpoints).map((name) => endpoint(name)));
  return {
    'GET endpoints': all,
    'GET endpoints/PJSIP': all,
    'GET endpoints/{tech}/{resource}': (tech, _, resource) => {
      const known = tech.toUpperCase() === 'PJSIP' && trunk.endpoints[resource] !== undefined;
      if (known) return ok(endpoint(resource));
      throw new Refusal(404, 'Endpoint not found');
    },
    'GET asterisk/config/dynamic/res_websocket_client/websocket_client/{id}': (id) => {
      const client = clients.get(id);
      if (client === undefined) throw new Refusal(404, `Object with id '${id}' not found`);
      return ok(attributesOf(client));
    },
  };
}

function endpoint(resource: string): object {
  const state = ['dead', '102'].includes(resource) ? 'offline' : 'online';
  return { technology: 'PJSIP', resource, state, channel_ids: [] };
}

function attributesOf(client: WebsocketClient): { attribute: string; value: string }[] {
  const values: Record<string, string> = {
    reconnect_interval: String(client.reconnectIntervalMs ?? 500),
    verify_server_cert: 'yes',
    reconnect_attempts: String(client.reconnectAttempts ?? 4),
    username: client.username ?? '',
    ca_list_path: '',
    cert_file: '',
    connection_type: 'per_call_config',
    verify_server_hostname: 'yes',
    connection_timeout: String(client.connectionTimeoutMs ?? 500),
    uri: client.uri,
    password: client.password ?? '',
    protocols: client.protocols ?? '',
    tls_enabled: client.uri.startsWith('wss:') ? 'yes' : 'no',
    priv_key_file: '',
    ca_list_file: '',
    ...client.shown,
  };
  return Object.entries(values).map(([attribute, value]) => ({ attribute, value }));
}
