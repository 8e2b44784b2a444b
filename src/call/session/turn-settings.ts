// A workflow's turn settings (contract §5.5) as the pipeline wants them.

import type { WorkflowConfigurations } from '../../model/workflow.ts';
import { defaultTuning, type TurnTuning } from '../../pipeline/turn/turn-tuning.ts';

export function turnSettings(settings: WorkflowConfigurations): TurnTuning {
  return {
    ...defaultTuning,
    turnMaxMs: settings.user_turn_stop_timeout * 1_000,
    start: {
      strategy: settings.turn_start_strategy,
      wordsMin: settings.turn_start_min_words,
      pauseMs: settings.provisional_vad_pause_secs * 1_000,
    },
  };
}
