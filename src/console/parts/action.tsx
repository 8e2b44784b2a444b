// An action of a page, such as a change by the API: whether it runs, and its error.

import { useState } from 'react';
import { ApiError, textOf } from '../api/errors.ts';
import { Notice } from './notice.tsx';

const NO_FIELDS: Readonly<Record<string, string>> = {};

/** Runs an action once at a time. `notice` shows its error; `fault` is the error's text, and `fields` has those of the
 *  fields of a form. */
export function useAction() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  /** Resolves with whether it succeeded. */
  const run = async (action: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      await action();
      return true;
    } catch (error) {
      setError(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const fault = error === undefined ? undefined : textOf(error);
  return {
    run,
    isBusy,
    fault,
    notice: fault === undefined ? null : <Notice tone="bad">{fault}</Notice>,
    fields: error instanceof ApiError ? error.fields : NO_FIELDS,
  };
}
