// Dialogs of the browser: it keeps the focus within them and closes them on Escape.

import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ApiError, textOf } from '../api/errors.ts';
import { Icon } from './icon.tsx';
import { Notice } from './notice.tsx';

/** A modal dialog, open for as long as it is rendered. */
export function Dialog({
  title,
  onClose,
  isWide = false,
  children,
}: {
  title: string;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    if (current?.open === false) current.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      data-wide={isWide}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header className="dialog-header">
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}

/** Asks before something that cannot be taken back. `onConfirm` may reject: the error is shown. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** Name of the button that does it: `Hang up`. */
  action: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}) {
  const { run, isBusy, fault } = useAction();
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {fault !== undefined && <Notice tone="bad">{fault}</Notice>}
      <footer className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="danger"
          disabled={isBusy}
          onClick={() => void run(onConfirm).then((isDone) => isDone && onClose())}
        >
          {action}
        </button>
      </footer>
    </Dialog>
  );
}

/** The end of a form in a dialog: the fault of its action, a button that closes it, and the one that sends it. */
export function FormEnd({
  fault,
  action,
  isDisabled,
  onClose,
}: {
  fault: string | undefined;
  /** Name of the button that sends the form. */
  action: string;
  isDisabled: boolean;
  onClose: () => void;
}) {
  const footer = useRef<HTMLElement>(null);
  // The field that is at fault may be out of sight in a long form.
  useEffect(() => {
    if (fault === undefined) return;
    const form = footer.current?.closest('form');
    form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [fault]);
  return (
    <>
      {fault !== undefined && <Notice tone="bad">{fault}</Notice>}
      <footer ref={footer} className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={isDisabled}>
          {action}
        </button>
      </footer>
    </>
  );
}

const NO_FIELDS: Readonly<Record<string, string>> = {};

/** Runs an action once at a time, and keeps its error's text, and the texts by field of a form. */
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
  return { run, isBusy, fault, fields: error instanceof ApiError ? error.fields : NO_FIELDS };
}
