// The command `patchbay`, separate from the gateway, for administrators of a PBX and of the machine. Uses no process
// globals: scripts/patchbay.mjs starts it and passes arguments, environment and output.

import { parseArgs } from 'node:util';
import { GatewayError } from '../errors/gateway-error.ts';
import { asteriskConfig, asteriskOptions } from './asterisk-config.ts';
import { clusterOptions, printClusterStatus } from './cluster-status.ts';
import { doctor, doctorOptions } from './doctor.ts';
import type { CliIo } from './gateway-client.ts';
import { providersSync, syncOptions } from './providers-sync.ts';
import { servicesCheck, servicesOptions } from './services-check.ts';
import { why, whyOptions } from './why.ts';

const USAGE = `Usage:
  npx patchbay asterisk config --url URL [options]   what to put into Asterisk's files
  npx patchbay doctor --config ID [options]          examines what calls of a configuration need, line by line
  npx patchbay doctor --config ID --call NUMBER      the same, then a call over a hosted provider, step by step
  npx patchbay providers sync --config ID [--yes]    points a hosted provider's calls at this gateway
  npx patchbay services check [options]              asks speech services whether they take their keys
  npx patchbay services record --to URL --out FILE   what a call and a service say, without keys
  npx patchbay cluster status --url URL [options]    all gateways on one database: what is wrong, and what to do
  npx patchbay why RUN [options]                     why a call ended, whose fault it was, and what to do
  npx patchbay keys list|create|archive [options]    API keys, on the machine that has the data
  npx patchbay --version                             the release

Options of asterisk, doctor, providers, services check and why:
  --url URL          where the gateway is reached: https://gw.example.com (or PATCHBAY_URL)
  --key KEY          API key (or PATCHBAY_API_KEY)
  --config ID        a telephony configuration of the gateway

Options of doctor, for Asterisk:
  --numbers          also calls every active number through the PBX's dialplan, and says which do not come here;
                     telephones may ring, no agent starts
  --context NAME     where calls from outside begin: the trunk's context (default: the PJSIP endpoints' contexts)
  --yes              without asking first

Options of doctor, for hosted providers:
  --call NUMBER      rings this telephone (+ and country code) and examines the call; the provider charges for it.
                     Answer it, listen, press 1 or 2 when asked. Ctrl-C hangs up. Needs PATCHBAY_PUBLIC_URL at the gateway
  --out FILE         where the capture of the call goes, a new file (patchbay-call-ID-TIME.jsonl)

Options of asterisk config:
  --mode MODE        server       the gateway dials Asterisk for events and audio (default)
                     client       Asterisk dials the gateway for audio
                     incoming     Asterisk dials the gateway for both (PBX behind NAT)
                     audiosocket  audio without chan_websocket, Asterisk 18 and newer
                     rtp          audio without chan_websocket, Asterisk 16 and newer
  --user NAME        ARI user (patchbay)
  --password WORD    its password (or PATCHBAY_PBX_PASSWORD; default: a new one)
  --app NAME         Stasis application: stasis_app_name of the configuration
  --client NAME      section of websocket_client.conf (patchbay)
  --context NAME     context of the dialplan for calls to the agent (patchbay-in)
  --number NUMBER    a number that goes to the agent; may be repeated (all that reach the context)
  --bind ADDRESS     where Asterisk's HTTP server listens (0.0.0.0)
  --tls              that server speaks TLS
  --freepbx          for FreePBX: its settings, its files for additions (..._custom.conf), its web interface
  With --config and a key, mode, user, application, client and TLS are those of the configuration.

Options of services record:
  --to URL           the service: https://api.deepgram.com; its base_url is this command's address meanwhile
  --out FILE         a new file, one JSON object a line
  --sessions COUNT   websockets, and requests with a body, until it ends (1); checks of keys have none

Options of cluster status:
  --secret SECRET    the gateways' PATCHBAY_DEVOPS_SECRET (or that variable); no API key is needed
  --gateways COUNT   how many there should be: fewer are something wrong
  --json             the whole answer with "problems"; in both forms the exit code is 1 if something is wrong

Options of why:
  --workflow ID      the agent of the run (found by the run)
  --json             the whole answer; in both forms the exit code is 0 if the call ended as it should, else 1

Options of keys:
  --data FOLDER      the gateway's data folder (or PATCHBAY_DATA, or DATABASE_URL for a server; default ./data)
  --name NAME        what a new key is for
  --organization ID  whose it is (the first organization)
  --id ID            which key to archive
`;

/** Runs a command. Returns the exit code: 0, 1 if something is wrong with the PBX or the gateway, 2 for a wrong
 *  command. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const [first = 'help', second] = args;
  if (['help', '--help', '-h'].includes(first) || args.includes('--help')) {
    io.out(USAGE);
    return 0;
  }
  try {
    const command = commandOf(first, second);
    if (command !== undefined) return await command(args, io);
    const words = args.filter((word) => !word.startsWith('-')).join(' ');
    throw new GatewayError('COMMAND_INVALID', { problem: `there is no command "${words}"` });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const isOurs = error.code !== 'COMMAND_INVALID';
    io.error(
      isOurs ? `${error.message}\n` : `${error.message}\nnpx patchbay help lists the options.\n`,
    );
    return isOurs ? 1 : 2;
  }
}

type Command = (args: readonly string[], io: CliIo) => Promise<number>;

/** Commands by name: `doctor`, `why` and `keys` have one word, the others two. */
const commands: Readonly<Record<string, Command>> = {
  doctor: (args, io) => doctor(optionsOf(args.slice(1), doctorOptions), io),
  'asterisk config': (args, io) => asteriskConfig(optionsOf(args.slice(2), asteriskOptions), io),
  'providers sync': (args, io) => providersSync(optionsOf(args.slice(2), syncOptions), io),
  'services check': (args, io) => servicesCheck(optionsOf(args.slice(2), servicesOptions), io),
  'services record': async (args, io) => {
    // Loaded with its servers, which the other commands do not need.
    const { recordOptions, servicesRecord } = await import('./services-record.ts');
    return servicesRecord(optionsOf(args.slice(2), recordOptions), io);
  },
  'cluster status': (args, io) => printClusterStatus(optionsOf(args.slice(2), clusterOptions), io),
  why: (args, io) => {
    const run = args[1]?.startsWith('-') === false ? args[1] : undefined;
    return why(run, optionsOf(args.slice(run === undefined ? 1 : 2), whyOptions), io);
  },
  keys: async (args, io) => {
    // Loaded with the store, which the other commands do not need.
    const { keys, keysOptions } = await import('./keys.ts');
    return keys(args[1], optionsOf(args.slice(2), keysOptions), io);
  },
};

function commandOf(first: string, second = ''): Command | undefined {
  const name = [first, `${first} ${second}`].find((each) => Object.hasOwn(commands, each));
  return name === undefined ? undefined : commands[name];
}

type Options = Exclude<Parameters<typeof parseArgs>[0], undefined>['options'];

/** Throws COMMAND_INVALID. */
function optionsOf<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // Node's error texts name the option and its fault.
    const problem = error instanceof Error ? (error.message.split('. ', 1)[0] ?? '') : '';
    throw new GatewayError('COMMAND_INVALID', { problem }, error);
  }
}
