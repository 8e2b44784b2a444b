// A gateway to which the PBX of this machine is one of another machine, by its name: for faults of addresses that lead
// each machine to itself.

/** The gateway finds the PBX at this name, which is none of its own machine. */
export const OTHER_MACHINE = 'pbx.test';
/** In the gateway's process alone: it is asked of no name server, and no file of the machine has it. */
const LOOKUP = `
  import dns from 'node:dns';
  import { syncBuiltinESMExports } from 'node:module';
  const lookup = dns.lookup;
  dns.lookup = (host, ...more) => lookup(host === '${OTHER_MACHINE}' ? '127.0.0.1' : host, ...more);
  syncBuiltinESMExports();
`;
/** Environment of the gateway for the faults with the host name. */
export const OTHER_MACHINE_ENV = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LOOKUP)}`,
  PATCHBAY_MEDIA_HOST: 'localhost',
} as const;
