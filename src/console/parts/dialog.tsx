// Dialogs of the browser: it keeps the focus within them and closes them on Escape.

import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useAction } from './action.tsx';
import { Icon } from './icon.tsx';

/** A modal dialog, open for as long as it is rendered. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
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
  const { run, isBusy, notice } = useAction();
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {notice}
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

/** The end of a form in a dialog: the error of its action, a button that closes it, and the one that sends it. */
export function FormEnd({
  notice,
  action,
  isDisabled,
  onClose,
}: {
  /** The action's. */
  notice: ReactNode;
  /** Name of the button that sends the form. */
  action: string;
  isDisabled: boolean;
  onClose: () => void;
}) {
  return (
    <>
      {notice}
      <footer className="buttons">
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
