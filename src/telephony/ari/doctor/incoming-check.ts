// Checks a connection that Asterisk opens to the gateway: whether it is there, and if not, what became of the attempts.
// Source: asterisk §2.6, §4.

import { type CheckOutcome, type CheckSubject, fail, pass } from '../../provider/check.ts';
import type { RefusalCause, RefusedConnection } from '../connection/refused-connections.ts';
import type { CheckContext } from './check.ts';
import type { LinkReport } from './connection-checks.ts';

const CONNECTION: CheckSubject = { key: 'connection', title: 'Connection' };
/** Attempts that are named. */
const NAMED_MAX = 3;
const RELOAD = 'then module reload res_websocket_client.so and module reload res_ari.so';

export function incomingLink(context: CheckContext): LinkReport {
  const { live } = context;
  if (live?.state.kind === 'up') {
    const version = live.state.version ?? '';
    return {
      findings: [{ ...CONNECTION, ...pass('Asterisk has opened the connection.') }],
      version,
    };
  }
  return { findings: [{ ...CONNECTION, ...missingOutcome(context) }], version: undefined };
}

function missingOutcome({ account, refused, egress, publicUrl }: CheckContext): CheckOutcome {
  const ours = refused.of(account.app);
  const [last] = ours;
  if (last !== undefined) {
    return fail(
      `Asterisk's connection is refused: ${shown(ours)}.`,
      adviceFor(last, account.app_name),
    );
  }
  // Other organizations' while anybody may sign up.
  const others = egress.hidesFaults ? [] : refused.unknown();
  const wanted = `${publicUrl.replace(/^http/, 'ws')}/api/v1/telephony/pbx/${account.app}`;
  if (others.length > 0) {
    return fail(
      `Asterisk has not connected for ${account.app}. Refused: ${shown(others)}.`,
      `If that is this PBX: uri = ${wanted} in the persistent section of websocket_client.conf, and apps = ${account.app} in ari.conf; ${RELOAD}.`,
    );
  }
  return fail(
    'Asterisk has not connected to this process of the gateway, and no attempt has arrived since its start.',
    `ari.conf needs a section with type = outbound_websocket, apps = ${account.app}, local_ari_user = ${account.app_name}; websocket_client.conf the section that it names, connection_type = persistent, uri = ${wanted}. Asterisk's log says why it does not get here: "Client start error" with wss:// is a certificate of an authority that it does not trust (ca_list_file) or a host and port where nobody listens; "Bad status line" is tls_enabled = yes missing. ari show websocket sessions lists what it tries. npx patchbay asterisk config --mode incoming prints both files.`,
  );
}

function shown(refused: readonly RefusedConnection[]): string {
  const named = refused.slice(0, NAMED_MAX).map(({ app, cause, client, attempts, lastAt }) => {
    const times = attempts === 1 ? 'once, at' : `${attempts} times, the last at`;
    return `from ${client} ${words(app)[cause]} (${times} ${new Date(lastAt).toISOString()})`;
  });
  const rest = refused.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

const words = (app: string): Readonly<Record<RefusalCause, string>> => ({
  password: 'with another password than the configuration has',
  user: 'as another user than the configuration has',
  'no-login': 'without a user and a password',
  application: `for the application ${app}, which no configuration has`,
});

function adviceFor({ cause }: RefusedConnection, user: string): string {
  const section = 'in the persistent section of websocket_client.conf';
  const ofCause: Partial<Record<RefusalCause, string>> = {
    password: `password = the configuration's app_password ${section}`,
    user: `username = ${user} ${section}`,
  };
  return `${ofCause[cause] ?? `username = ${user} and password = the configuration's app_password ${section}`}, ${RELOAD}.`;
}
