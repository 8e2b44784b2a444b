// Every case, in the order in which they run.

import type { ClusterCase } from '../cluster-case.ts';
import { campaign } from './campaign.ts';
import { commands } from './commands.ts';
import { deaths } from './deaths.ts';
import { engineLosses } from './engine-losses.ts';
import { files } from './files.ts';
import { limits } from './limits.ts';
import { mediaRouting } from './media-routing.ts';
import { namesAndClocks } from './names-and-clocks.ts';
import { pbxSpread } from './pbx-spread.ts';
import { pbxTakeover } from './pbx-takeover.ts';
import { pooled } from './pooled.ts';
import { rolling } from './rolling.ts';

export const cases: readonly ClusterCase[] = [
  ...mediaRouting,
  ...commands,
  ...deaths,
  ...pbxTakeover,
  ...pbxSpread,
  ...rolling,
  ...limits,
  ...campaign,
  ...engineLosses,
  ...namesAndClocks,
  ...files,
  ...pooled,
];
