// The same configuration for FreePBX, which writes http.conf, ari.conf and extensions.conf itself: its settings, the
// files that it leaves to the administrator, and the steps in its web interface. Texts only. Source: asterisk §1.1.

import { type AdminFile, type AdminPlan, type AdminWishes, endpointOf } from './asterisk-files.ts';

/** Files for additions: FreePBX includes that of ari.conf after all sections; http.conf has no place for a second
 *  [general]. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  'ari.conf': 'ari_additional_custom.conf',
  'extensions.conf': 'extensions_custom.conf',
  'websocket_client.conf': 'websocket_client.conf',
};

/** The plan for FreePBX. `plan`: that for a plain Asterisk. */
export function freePbxPlan(plan: AdminPlan, wishes: AdminWishes): AdminPlan {
  return {
    ...plan,
    shell: settingsOf(wishes),
    files: plan.files.flatMap(({ name, text }): AdminFile[] => {
      const own = FILE_NAMES[name];
      return own === undefined ? [] : [{ name: own, text: withoutGeneral(text) }];
    }),
    reloads: [
      'fwconsole reload',
      ...plan.reloads
        .filter((command) => command !== 'dialplan reload')
        .map((command) => `asterisk -rx '${command}'`),
    ],
    steps: stepsOf(wishes),
    configuration: { ...plan.configuration, dial_template: 'Local/{number}@from-internal/n' },
  };
}

/** Settings from which FreePBX writes [general] of both files. */
function settingsOf({ mode, bind, isTls }: AdminWishes): string[] {
  const isLocal = mode === 'incoming' || isTls;
  return [
    'fwconsole setting HTTPENABLED 1',
    `fwconsole setting HTTPBINDADDRESS ${isLocal ? '127.0.0.1' : bind}`,
    ...(isTls && mode !== 'incoming'
      ? ['fwconsole setting HTTPTLSENABLE 1', `fwconsole setting HTTPTLSBINDADDRESS ${bind}`]
      : []),
    'fwconsole setting ENABLE_ARI 1',
  ];
}

function stepsOf(wishes: AdminWishes): string[] {
  const { context, numbers, mode, isTls } = wishes;
  const address = endpointOf(wishes) ?? 'ari_endpoint';
  const wanted = numbers.length === 0 ? ['8000'] : numbers;
  return [
    ...wanted.map(
      (number) =>
        `Admin, Custom Destinations: Target ${context},${number},1; Description "Agent ${number}"; Return No`,
    ),
    'Connectivity, Inbound Routes: DID Number as the trunk sends it, Set Destination: Custom Destinations, Agent ...',
    ...(isTls && mode !== 'incoming'
      ? [`Admin, Certificate Management: a certificate for the name in ${address}, set as default`]
      : []),
    ...(mode === 'incoming'
      ? []
      : ['Connectivity, Firewall: the port of the mini-HTTP server for the gateway alone']),
    'Apply Config',
  ];
}

function withoutGeneral(text: string): string {
  return text.replace(/^\[general\]\(\+\)[^\n]*\n(?:[^[\n][^\n]*\n)*\n*/, '');
}
