// An action of a page without a dialog: the page shows its error.

import { useAction } from './dialog.tsx';
import { Notice } from './notice.tsx';

/** `run` runs an action and resolves with whether it succeeded; `notice` shows its error. */
export function usePageAction() {
  const { run, isBusy, fault } = useAction();
  return {
    run,
    isBusy,
    notice: fault === undefined ? null : <Notice tone="bad">{fault}</Notice>,
  };
}
