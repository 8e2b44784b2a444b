// `npm run load`: how many calls a gateway carries, as far ends hear them. README.md describes its options.

import { writeFileSync } from 'node:fs';
import { readCommand } from './load-options.ts';
import { startOwnGateway } from './load-target.ts';
import { type LoadFigures, measureLoad } from './measure.ts';

/** With more than one worker the gateway needs both cores, and the calls take their share of them. */
const GATEWAY_CORE = '0';
const CLIENT_CORE = '1';

await main();

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  const { scenario, calls, seconds, workers, json } = command;
  const isSpread = (workers ?? 1) > 1;
  const target = await startOwnGateway({
    scenario,
    workers,
    cores: isSpread ? undefined : GATEWAY_CORE,
  });
  let figures: LoadFigures;
  try {
    figures = await measureLoad(target, {
      scenario,
      calls,
      seconds,
      callsPerSecond: command['calls-per-second'],
      leadMs: command['lead-ms'],
      cores: isSpread ? undefined : CLIENT_CORE,
    });
  } finally {
    await target.stop();
  }
  print(figures);
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify({ scenario, figures }, null, 2)}\n`);
}

function print(figures: LoadFigures): void {
  for (const [name, value] of Object.entries(figures)) {
    const shown = typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value;
    console.log(`  ${name.padEnd(26)} ${Array.isArray(shown) ? shown.join('; ') : (shown ?? '-')}`);
  }
}
