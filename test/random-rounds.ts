// How often a property of fast-check is tried that names no number: ten times as often in `npm run test:full`.

import { configureGlobal } from 'fast-check';
import { rounds } from './rounds.ts';

configureGlobal({ numRuns: rounds(100) });
