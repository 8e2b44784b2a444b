// What a gateway without calls costs, beside what it may cost. Linux. Run: npx tsx test/bench/idle-gateway.ts

import { idleFigures } from './idle-figures.ts';

/** MB of PSS that each process may have, and ms of the start, with a database that is there. */
const GOALS = { supervisor: 50, api: 120, worker: 200, database: 220, startMs: 3_500 };

const { startMs, pssMb } = await idleFigures();
console.table(pssMb.map((each) => ({ ...each, goal: GOALS[each.role] })));
console.info(`start: ${startMs} ms, goal ${GOALS.startMs} ms`);
