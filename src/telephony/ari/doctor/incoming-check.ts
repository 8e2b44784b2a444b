// Checks a connection that Asterisk opens to the gateway: whether it is open, and if not, why its attempts failed.
// Source: asterisk §2.6, §4.

import { type CheckOutcome, type CheckSubject, fail, pass } from '../../provider/check.ts';
import { PBX_PATH } from '../../provider/pbx.ts';
import { TAKEN_ADVICE } from '../connection/connection-fault.ts';
import { NOT_CONNECTED } from '../connection/outbound-websocket.ts';
import type { RefusalCause, RefusedConnection } from '../connection/refused-connections.ts';
import type { CheckContext } from './check.ts';
import type { LinkReport } from './connection-checks.ts';
import { APPLICATION } from './system-checks.ts';

const CONNECTION: CheckSubject = { key: 'connection', title: 'Connection' };
/** Attempts that the finding names. */
const NAMED_MAX = 3;
/** Age of an attempt that still counts. Asterisk retries every half second, so the reason of an older one has passed. */
const RECENT_MS = 300_000;
const RELOAD = 'then module reload res_websocket_client.so and module reload res_ari.so';

export function incomingLink(context: CheckContext): LinkReport {
  const { live, account } = context;
  const open = { ...CONNECTION, ...pass('Asterisk has opened the connection.') };
  if (live?.state.kind === 'up') return { findings: [open], version: live.state.version ?? '' };
  if (live?.state.kind === 'down' && live.state.code === 'PBX_APP_TAKEN') {
    const taken = fail(
      `Another program has taken ${account.app} over: its calls do not reach this gateway.`,
      `Give every program an application of its own. ${TAKEN_ADVICE.incoming}`,
    );
    // Further requests may get no answer: Asterisk drops those of an application that is gone.
    return { findings: [open, { ...APPLICATION, ...taken }], version: undefined };
  }
  return { findings: [{ ...CONNECTION, ...missingOutcome(context) }], version: undefined };
}

function missingOutcome(context: CheckContext): CheckOutcome {
  const { account, refused, egress, clock, live } = context;
  const isRecent = ({ lastAt }: RefusedConnection): boolean => clock.now() - lastAt < RECENT_MS;
  const ours = refused.of(account.app).filter(isRecent);
  const [last] = ours;
  if (last !== undefined) {
    return fail(
      `Asterisk's connection is refused: ${shown(ours, account.app)}.`,
      adviceFor(last, account.app_name),
    );
  }
  if (live?.state.kind === 'down' && live.state.code !== NOT_CONNECTED.code) {
    return fail(
      `Asterisk's connection was opened and is of no use: ${live.state.message}`,
      'ari show websocket sessions and ari show apps, on Asterisk, show who is connected. The rights are those of the user in ari.conf that local_ari_user names; after a change: module reload res_ari.so.',
    );
  }
  // While anybody may sign up, these belong to other organizations.
  const others = egress.hidesFaults ? [] : refused.unknown().filter(isRecent);
  const wanted = addressFor(context);
  if (others.length > 0) {
    return fail(
      `Asterisk has not connected for ${account.app}. Refused: ${shown(others, account.app)}.`,
      `If that is this PBX: uri = ${wanted} in the persistent section of websocket_client.conf, and apps = ${account.app} in ari.conf; ${RELOAD}.`,
    );
  }
  return fail(
    'Asterisk has not connected to this process of the gateway, and no attempt has arrived in the last five minutes.',
    `ari.conf needs a section with type = outbound_websocket, apps = ${account.app}, local_ari_user = ${account.app_name}; websocket_client.conf the section that it names, connection_type = persistent, uri = ${wanted}. Asterisk's log says why it does not get here: "Client start error" with wss:// is a certificate of an authority that it does not trust (ca_list_file) or a host and port where nobody listens; "Bad status line" is tls_enabled = yes missing. ari show websocket sessions lists what it tries. npx patchbay asterisk config --mode incoming prints both files.`,
  );
}

function addressFor({ account, publicUrl }: CheckContext): string {
  return `${publicUrl.replace(/^http/, 'ws')}${PBX_PATH}${account.app}`;
}

function shown(refused: readonly RefusedConnection[], own: string): string {
  const named = refused.slice(0, NAMED_MAX).map(({ app, cause, client, attempts, lastAt }) => {
    const times = attempts === 1 ? 'once, at' : `${attempts} times, the last at`;
    return `from ${client} ${words(app, own)[cause]} (${times} ${new Date(lastAt).toISOString()})`;
  });
  const rest = refused.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

const words = (app: string, own: string): Readonly<Record<RefusalCause, string>> => ({
  password: 'with another password than the configuration has',
  user: 'as another user than the configuration has',
  'no-login': 'without a user and a password',
  application:
    app === own
      ? 'while this process of the gateway was not waiting for it'
      : `for the application ${app}, which no configuration has`,
});

function adviceFor({ cause }: RefusedConnection, user: string): string {
  if (cause === 'application') {
    return 'One node of the gateway has the configuration, seconds after a change of it. If there are several nodes, their load balancer must pass the connection on to that one.';
  }
  const section = 'in the persistent section of websocket_client.conf';
  const ofCause: Partial<Record<RefusalCause, string>> = {
    password: `password = the configuration's app_password ${section}`,
    user: `username = ${user} ${section}`,
  };
  return `${ofCause[cause] ?? `username = ${user} and password = the configuration's app_password ${section}`}, ${RELOAD}.`;
}
